package middleware_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// spy is a store that notes what it is asked for.
type spy struct {
	pathlock.Store
	// before is called before each acquisition.
	before func()
	// queued is told of each request that begins to wait. nil tells nobody.
	queued chan struct{}
	// through lets releases through, which are those of a distant store. nil lets all through.
	through chan struct{}

	mu                sync.Mutex
	asked             []pathlock.Acquisition
	granted, released int
}

func (s *spy) Local() bool { return s.through == nil }

func (s *spy) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	s.mu.Lock()
	s.asked = append(s.asked, a)
	s.mu.Unlock()
	if s.before != nil {
		s.before()
	}
	told := a.Waiting
	a.Waiting = func() {
		told()
		if s.queued != nil {
			s.queued <- struct{}{}
		}
	}
	g, err := s.Store.Acquire(ctx, a)
	if err == nil {
		s.mu.Lock()
		s.granted++
		s.mu.Unlock()
	}
	return g, err
}

func (s *spy) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if s.through != nil {
		<-s.through
	}
	err := s.Store.Release(ctx, tree, owner, id)
	if err == nil {
		s.mu.Lock()
		s.released++
		s.mu.Unlock()
	}
	return err
}

// observer writes down the steps of requests, a line at the end of each, and their answers.
type observer struct {
	pathlock.NopObserver
	mu       sync.Mutex
	steps    []string
	answered []pathlock.Failure
}

// stepKey is the context key of the step that a context belongs to.
type stepKey struct{}

// Step implements [pathlock.Observer].
func (o *observer) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	return context.WithValue(ctx, stepKey{}, s.Kind), func(err error) {
		if s.Kind != pathlock.StepRelease {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.steps = append(o.steps, fmt.Sprintf("%s %d: %v", s.Kind, s.Attempt, err))
		}
	}
}

// Answered implements [pathlock.Observer].
func (o *observer) Answered(_ context.Context, f pathlock.Failure) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered = append(o.answered, f)
}
