package quorum

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// Release implements [pathlock.Store]: all members are told at once. Those that do not answer are
// told in the background, when they answer again.
//
// The error matches [pathlock.ErrNotHeld] if a majority has no such grant, whatever the others had.
// It is a [*MajorityError] if neither those that gave it back nor those that had nothing are a
// majority.
func (s *Store) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	what := fmt.Sprintf("release in %s of owner %s", tree, owner.Short())
	answers, err := s.giveBack(ctx, what, key{tree, owner, id})
	if err != nil {
		return err
	}
	switch {
	case answers.count(isDone) >= s.majority:
		return nil
	case answers.count(isNotHeld) >= s.majority:
		return fmt.Errorf("%w: quorum: %s", pathlock.ErrNotHeld, what)
	default:
		return answers.unavailable(ctx)
	}
}

// ForceRelease implements [pathlock.Store]. A waiting request is in the queue of one member, so it
// is enough that one of a majority that answers has something to take away.
func (s *Store) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	what := fmt.Sprintf("force release in %s of owner %s", tree, owner.Short())
	answers, err := s.giveBack(ctx, what, key{tree: tree, owner: owner})
	if err != nil {
		return err
	}
	switch {
	case answers.count(isAnswer) < s.majority:
		return answers.unavailable(ctx)
	case answers.count(isDone) > 0:
		return nil
	default:
		return fmt.Errorf("%w: quorum: %s", pathlock.ErrNotHeld, what)
	}
}

// giveBack has all members give something back, now or when they answer again.
func (s *Store) giveBack(ctx context.Context, what string, k key) (answers[struct{}], error) {
	if err := s.begin(); err != nil {
		return answers[struct{}]{}, err
	}
	defer s.running.Done()
	s.forget(k)
	// What has begun is brought to its end, whatever becomes of the caller.
	got := poll(context.WithoutCancel(ctx), s, what, func(ctx context.Context, m *member) (struct{}, error) {
		return struct{}{}, m.release(ctx, k)
	})
	for _, a := range got.all {
		if !isAnswer(a.err) {
			a.member.giveBackLater(k)
		}
	}
	return got, nil
}
