package election_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Many candidates of several processes lead in turn: never two at once, and each with a larger term
// than all before. The race detector sees what a second leader would write.
func TestElection_oneLeadsAtATime(t *testing.T) {
	in(t, func(f *fixture) {
		const processes, candidates, terms = 3, 4, 5
		var (
			work    sync.WaitGroup
			leaders atomic.Int64
			served  int
			latest  uint64
		)
		for p := range processes {
			e := f.office()
			for candidate := range candidates {
				value := fmt.Sprintf("process %d, candidate %d", p, candidate)
				work.Go(func() {
					for range terms {
						l, err := e.Campaign(f.Context(), value)
						if err != nil {
							f.Error(err)
							return
						}
						if n := leaders.Add(1); n != 1 || l.Term() <= latest || l.Value() != value {
							f.Errorf("%s leads as one of %d, in term %d after %d", l.Value(), n, l.Term(), latest)
						}
						latest = l.Term()
						served++
						leaders.Add(-1)
						f.resign(l)
					}
				})
			}
		}
		work.Wait()
		if want := processes * candidates * terms; served != want {
			f.Errorf("%d terms, want %d", served, want)
		}
		f.nothingLeft()
	})
}

// The next candidate leads as soon as the leader resigns, without waiting for a lease, and
// candidates lead in the order in which they came. A candidate that gives up is not elected.
func TestResign_handsOverAtOnce(t *testing.T) {
	in(t, func(f *fixture) {
		leader := f.campaign(f.Context(), f.office(), "a")
		queue := map[string]<-chan *election.Leadership{"b": f.queue("b"), "c": nil}
		ctx, stop := context.WithTimeout(f.Context(), time.Second)
		defer stop()
		_, err := f.office().Campaign(ctx, "gives up")
		conflict, ok := errors.AsType[*pathlock.ConflictError](err)
		if !ok || conflict.Blocker.Note != "a" || !errors.Is(err, context.DeadlineExceeded) {
			f.Errorf("at the deadline: %v", err)
		}
		testerr.Is(f, "after the deadline", testerr.Of(f.office().Campaign(ctx, "too late")), context.DeadlineExceeded)
		queue["c"] = f.queue("c")
		for _, value := range []string{"b", "c"} {
			last, ctx := leader, leader.Context()
			f.resign(last)
			testerr.Is(f, "the context after the resignation", context.Cause(ctx), context.Canceled)
			testerr.Is(f, "resigned twice", last.Resign(f.Context()), pathlock.ErrNotHeld)
			if leader = now(f, value, queue[value]); leader.Value() != value || leader.Term() <= last.Term() {
				f.Errorf("after %s leads %s", last.Value(), leader.Value())
			}
		}
		f.resign(leader)
		f.nothingLeft()
	})
}

// A leader that hangs in a process that lives leads until its bound.
func TestLeadership_endsAtItsBound(t *testing.T) {
	in(t, func(f *fixture) {
		e, began := f.office(), time.Now()
		e.MaxHold = time.Hour
		leader := f.campaign(f.Context(), e, "a")
		next := f.campaign(f.Context(), f.office(), "b")
		if led := time.Since(began); led != time.Hour || leader.Context().Err() == nil {
			f.Errorf("led for %v; the context: %v", led, leader.Context().Err())
		}
		testerr.Is(f, "proclaimed after the end", leader.Proclaim(f.Context(), "late"), pathlock.ErrLost)
		f.resign(next)
	})
}

// A leader proclaims values in its term: observers are woken for each, and no candidate gets in.
// Under its own context, a leader leads already, and goes when it has resigned as often.
func TestProclaim_givesValuesInTheTerm(t *testing.T) {
	in(t, func(f *fixture) {
		e, _ := process(f.cut)
		leader := f.campaign(f.Context(), e, "a")
		inner := f.campaign(leader.Context(), e, "another value")
		next := f.queue("b")
		leaders, _ := f.watch(f.Context(), f.office().Observe)
		sees := func(value string, term uint64) {
			f.Helper()
			if got := now(f, "an observer", leaders); got.err != nil || got.leader.Value != value || got.leader.Term != term {
				f.Fatalf("an observer sees %v, want %q in term %d", got, value, term)
			}
		}
		sees("a", leader.Term())
		f.calls()
		for i, l := range []*election.Leadership{leader, inner, leader} {
			value := fmt.Sprint("value ", i)
			time.Sleep(time.Hour)
			testerr.Must(f, l.Proclaim(f.Context(), value))
			sees(value, leader.Term())
			now, err := e.Leader(f.Context())
			if want := (election.Leader{Value: value, Term: leader.Term(), Since: time.Now()}); err != nil || now != want || leader.Value() != value || inner.Value() != value {
				f.Errorf("%v leads, %v, want %v; it leads as %q and %q", now, err, want, leader.Value(), inner.Value())
			}
			if made := f.calls(); made != "acquire release snapshot" {
				f.Errorf("a value and a look cost %q", made)
			}
		}
		again := f.campaign(inner.Context(), e, "")
		if again.Term() != leader.Term() || again.Value() != "value 2" || len(next) > 0 {
			f.Errorf("term %d as %q within term %d", again.Term(), again.Value(), leader.Term())
		}

		f.cut.Set(testlock.Failing(pathlock.ErrUnavailable, "acquire"))
		testerr.Is(f, "proclaimed without the store", leader.Proclaim(f.Context(), "c"), pathlock.ErrUnavailable)
		f.cut.Set(nil)
		testerr.Is(f, "an impossible value", leader.Proclaim(f.Context(), "\xff"), pathlock.ErrInvalidRequest)
		for _, l := range []*election.Leadership{leader, inner, again} {
			if now, err := e.Leader(f.Context()); err != nil || now.Term != leader.Term() || now.Value != "value 2" || leader.Value() != "value 2" {
				f.Errorf("%v leads, %v, as %q", now, err, leader.Value())
			}
			f.resign(l)
			testerr.Is(f, "proclaimed after the resignation", l.Proclaim(f.Context(), "c"), pathlock.ErrNotHeld)
		}
		successor := now(f, "the successor", next)
		sees("b", successor.Term())
		f.resign(successor)
		// A context that outlives a leadership is no reason to go on with its value.
		if last := f.campaign(context.WithoutCancel(again.Context()), e, "new"); last.Value() != "new" || last.Term() <= successor.Term() {
			f.Errorf("the candidate leads as %q in term %d after %d", last.Value(), last.Term(), successor.Term())
		} else {
			f.resign(last)
		}
	})
}

// Elections of different names are apart, and apart from mutexes. Candidates that campaign under
// one lock, such as the leadership of another election, are candidates like any others.
func TestElection_namesAreApart(t *testing.T) {
	in(t, func(f *fixture) {
		locker, ctx := pathlock.New(f.store), f.Context()
		for _, name := range []string{"office", "Office", "office ", "{}", "夜间报告"} {
			e := election.New(locker, name)
			l := f.campaign(ctx, e, name)
			defer f.resign(l)
			bounded, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			testerr.Is(f, name+", again", testerr.Of(e.Campaign(bounded, "second")), pathlock.ErrConflict)
			ctx = l.Context()
		}
		lock, err := locker.Mutex("office").TryLock(f.Context())
		testerr.Must(f, err)
		testerr.None(f, lock.Release(f.Context()))
	})
}

func TestElection_refusesImpossibleNames(t *testing.T) {
	locker := pathlock.New(memstore.New())
	e := election.New(locker, "a\nb")
	testerr.Is(t, "campaign", testerr.Of(e.Campaign(t.Context(), "a")), pathlock.ErrInvalidTree)
	testerr.Is(t, "the leader", testerr.Of(e.Leader(t.Context())), pathlock.ErrInvalidTree)
	yields := 0
	for _, err := range e.Observe(t.Context()) {
		if yields++; yields > 1 || !errors.Is(err, pathlock.ErrInvalidTree) {
			t.Errorf("observe: %v, want ErrInvalidTree once", err)
		}
	}
	longest := strings.Repeat("x", pathlock.MaxNoteBytes)
	for value, want := range map[string]error{"\xff": pathlock.ErrInvalidRequest, longest + "x": pathlock.ErrInvalidRequest, longest: nil} {
		l, err := election.New(locker, "office").Campaign(t.Context(), value)
		testerr.Is(t, value, err, want)
		if err == nil {
			testerr.None(t, l.Resign(t.Context()))
		}
	}
}
