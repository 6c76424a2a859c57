package election_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Many candidates of several processes lead in turn: never two at once, and each with a larger term
// than all before. The race detector sees what a second leader would write.
func TestElection_oneLeadsAtATime(t *testing.T) {
	onAStore(t, func(t *testing.T, store pathlock.Store) {
		const processes, candidates, terms = 3, 4, 5
		var (
			work    sync.WaitGroup
			leaders atomic.Int64
			served  int
			latest  uint64
		)
		for p := range processes {
			e := process(store)
			for candidate := range candidates {
				value := fmt.Sprintf("process %d, candidate %d", p, candidate)
				work.Go(func() {
					for range terms {
						l, err := e.Campaign(t.Context(), value)
						if err != nil {
							t.Error(err)
							return
						}
						if n := leaders.Add(1); n != 1 || l.Term() <= latest || l.Value() != value {
							t.Errorf("%s leads as one of %d, in term %d after %d", l.Value(), n, l.Term(), latest)
						}
						latest = l.Term()
						served++
						leaders.Add(-1)
						if err := l.Resign(t.Context()); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
		}
		work.Wait()
		if want := processes * candidates * terms; served != want {
			t.Errorf("%d terms, want %d", served, want)
		}
		if trees, err := store.Trees(t.Context()); err != nil || len(trees) != 0 {
			t.Errorf("left behind: %v, %v", trees, err)
		}
	})
}

// The next candidate leads as soon as the leader resigns, without waiting for a lease, and
// candidates lead in the order in which they came.
func TestResign_handsOverAtOnce(t *testing.T) {
	onAStore(t, func(t *testing.T, store pathlock.Store) {
		leader := campaign(t.Context(), t, process(store), "a")
		var queue []<-chan *election.Leadership
		values := []string{"b", "c", "d"}
		for _, value := range values {
			queue = append(queue, inBackground(t, store, value))
		}
		for i, value := range values {
			ctx := leader.Context()
			resign(t, leader)
			if ctx.Err() == nil || errors.Is(context.Cause(ctx), pathlock.ErrLost) {
				t.Errorf("the context after the resignation: %v, %v", ctx.Err(), context.Cause(ctx))
			}
			testerr.Is(t, "resigned twice", leader.Resign(t.Context()), pathlock.ErrNotHeld)
			next := within(t, value+" leads", queue[i])
			if next == nil || next.Value() != value || next.Term() <= leader.Term() {
				t.Fatalf("after %s leads %v", leader.Value(), next)
			}
			leader = next
		}
		resign(t, leader)
	})
}

func TestCampaign_endsWithItsContext(t *testing.T) {
	onAStore(t, func(t *testing.T, store pathlock.Store) {
		leader := campaign(t.Context(), t, process(store), "the leader")
		ctx, cancel := context.WithCancel(t.Context())
		e, locker := newProcess(store, pathlock.WithObserver(&waiting{do: cancel}))
		testerr.Is(t, "cancelled", testerr.Of(e.Campaign(ctx, "b")), context.Canceled)
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		var conflict *pathlock.ConflictError
		if _, err := e.Campaign(ctx, "b"); !errors.As(err, &conflict) || conflict.Blocker.Note != "the leader" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("at the deadline: %v", err)
		}
		resign(t, leader)
		// Nobody is left in the queue who could be elected.
		if trees, err := locker.Trees(t.Context()); err != nil || len(trees) != 0 {
			t.Errorf("left behind: %v, %v", trees, err)
		}
	})
}

// An operator who deposes a leader has the next one elected at once. The deposed one learns of it
// with its next renewal.
func TestLeadership_lossEndsItsContext(t *testing.T) {
	onAStore(t, func(t *testing.T, store pathlock.Store) {
		e := process(store)
		e.Lease = 3 * time.Second
		leader := campaign(t.Context(), t, e, "a")
		next := inBackground(t, store, "b")
		_, locker := newProcess(store)
		snapshot, err := locker.Snapshot(t.Context(), office)
		if err != nil || len(snapshot.Holders) != 1 || snapshot.Holders[0].Note != "a" {
			t.Fatalf("holders %v, %v", snapshot.Holders, err)
		}
		testerr.Must(t, locker.ForceRelease(t.Context(), office, snapshot.Holders[0].Owner))
		successor := within(t, "b leads", next)
		within(t, "a learns of it", leader.Context().Done())
		if cause := context.Cause(leader.Context()); !errors.Is(cause, pathlock.ErrLost) {
			t.Errorf("the cause is %v, want ErrLost", cause)
		}
		testerr.Is(t, "resigned after the loss", leader.Resign(t.Context()), pathlock.ErrLost)
		if successor.Context().Err() != nil {
			t.Error("the late resignation has ended the successor's leadership")
		}
		resign(t, successor)
	})
}

// A leader that is cut off from the store leads no longer than its lease, by its own clock.
func TestLeadership_endsWithItsLeaseWhenCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		cut := &fake{Store: store}
		e, _ := newProcess(cut)
		next := make(chan time.Time, 1)
		leader := campaign(t.Context(), t, e, "a")
		began := time.Now()
		cut.set(func(ctx context.Context, call string) error {
			if call != "renew" {
				return nil
			}
			<-ctx.Done()
			return fmt.Errorf("%w: cut off", pathlock.ErrUnavailable)
		})
		go func() {
			other, _ := newProcess(store)
			l, err := other.Campaign(t.Context(), "b")
			if err != nil {
				t.Error(err)
				return
			}
			next <- time.Now()
			resign(t, l)
		}()
		<-leader.Context().Done()
		ended := time.Now()
		if elapsed := ended.Sub(began); elapsed > long || elapsed < long/2 {
			t.Errorf("the context ended after %v, the lease is %v", elapsed, long)
		}
		if elected := <-next; elected.Before(ended) || elected.Sub(began) > long {
			t.Errorf("the next one led %v after the last, the lease is %v", elected.Sub(began), long)
		}
		_ = leader.Resign(t.Context())
	})
}

// A leader proclaims values in its term: observers are woken for each, and no candidate gets in.
func TestProclaim_givesValuesInTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		counted := &fake{Store: store}
		e, _ := newProcess(counted)
		leader := campaign(t.Context(), t, e, "a")
		inner := campaign(leader.Context(), t, e, "")
		next := inBackground(t, store, "b")
		leaders, _ := watch(t.Context(), t, process(store).Observe)
		sees := func(value string, term uint64) {
			t.Helper()
			if got := <-leaders; got.err != nil || got.leader.Value != value || got.leader.Term != term {
				t.Fatalf("an observer sees %v, want %q in term %d", got, value, term)
			}
		}
		sees("a", leader.Term())
		synctest.Wait()
		counted.since()
		for i, l := range []*election.Leadership{leader, inner, leader} {
			value := fmt.Sprint("value ", i)
			time.Sleep(time.Hour)
			testerr.Must(t, l.Proclaim(t.Context(), value))
			sees(value, leader.Term())
			now, err := e.Leader(t.Context())
			if want := (election.Leader{Value: value, Term: leader.Term(), Since: time.Now()}); err != nil || now != want || leader.Value() != value || inner.Value() != value {
				t.Errorf("%v leads, %v, want %v; it leads as %q and %q", now, err, want, leader.Value(), inner.Value())
			}
			if made := counted.since(); made != "acquire release snapshot" {
				t.Errorf("a value and a look cost %q", made)
			}
		}
		again := campaign(inner.Context(), t, e, "")
		if again.Term() != leader.Term() || again.Value() != "value 2" || len(next) > 0 {
			t.Errorf("term %d as %q within term %d", again.Term(), again.Value(), leader.Term())
		}

		counted.set(func(_ context.Context, call string) error {
			if call == "acquire" {
				return pathlock.ErrUnavailable
			}
			return nil
		})
		if err := leader.Proclaim(t.Context(), "c"); !errors.Is(err, pathlock.ErrUnavailable) || leader.Value() != "value 2" {
			t.Errorf("without the store: %v, it leads as %q", err, leader.Value())
		}
		counted.set(nil)
		testerr.Is(t, "an impossible value", leader.Proclaim(t.Context(), "\xff"), pathlock.ErrInvalidRequest)
		for _, l := range []*election.Leadership{leader, inner, again} {
			resign(t, l)
			testerr.Is(t, "proclaimed after the resignation", l.Proclaim(t.Context(), "c"), pathlock.ErrNotHeld)
		}
		successor := <-next
		if successor.Term() <= leader.Term() {
			t.Errorf("term %d after term %d", successor.Term(), leader.Term())
		}
		sees("b", successor.Term())
		resign(t, successor)
	})
}

// A leader that hangs in a process that lives leads until its bound.
func TestLeadership_endsAtItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		e := process(store)
		e.MaxHold = time.Hour
		began, leader := time.Now(), campaign(t.Context(), t, e, "a")
		next := campaign(t.Context(), t, process(store), "b")
		if led := time.Since(began); led != time.Hour || leader.Context().Err() == nil {
			t.Errorf("led for %v; the context: %v", led, leader.Context().Err())
		}
		testerr.Is(t, "proclaimed after the end", leader.Proclaim(t.Context(), "late"), pathlock.ErrLost)
		resign(t, next)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		leader, next = campaign(ctx, t, e, "a"), campaign(t.Context(), t, process(store), "b")
		testerr.Is(t, "resigned after the deadline", leader.Resign(t.Context()), pathlock.ErrHeldTooLong)
		resign(t, next)
	})
}

// Under its own context, a leader leads already, and goes when it has resigned as often.
func TestCampaign_againInItsTerm(t *testing.T) {
	e := process(memstore.New())
	outer := campaign(t.Context(), t, e, "a")
	inner := campaign(outer.Context(), t, e, "another value")
	if inner.Term() != outer.Term() || inner.Value() != "a" {
		t.Errorf("term %d of %q within term %d", inner.Term(), inner.Value(), outer.Term())
	}
	again := campaign(inner.Context(), t, e, "")
	resign(t, outer)
	resign(t, inner)
	if leader, err := e.Leader(t.Context()); err != nil || leader.Term != again.Term() {
		t.Errorf("%v leads, %v", leader, err)
	}
	resign(t, again)
	if leader, err := e.Leader(t.Context()); err != nil || !leader.IsZero() {
		t.Errorf("%v leads after all, %v", leader, err)
	}
	// A context that outlives a leadership is no reason to go on with its value.
	next := campaign(context.WithoutCancel(again.Context()), t, e, "new")
	if next.Value() != "new" {
		t.Errorf("the candidate leads as %q", next.Value())
	}
	resign(t, next)
}

// Elections of different names are apart, and apart from mutexes.
func TestElection_namesAreApart(t *testing.T) {
	locker := pathlock.New(memstore.New())
	for _, name := range []string{"office", "Office", "office ", "{}", "夜间报告"} {
		l := campaign(t.Context(), t, election.New(locker, name), name)
		defer resign(t, l)
	}
	lock, err := locker.Mutex("office").TryLock(t.Context())
	testerr.Must(t, err)
	testerr.None(t, lock.Release(t.Context()))
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
	e = election.New(locker, "office")
	for _, value := range []string{"\xff", strings.Repeat("x", pathlock.MaxNoteBytes+1)} {
		if _, err := e.Campaign(t.Context(), value); !errors.Is(err, pathlock.ErrInvalidRequest) {
			t.Errorf("the value %.10q: %v, want ErrInvalidRequest", value, err)
		}
	}
	longest := strings.Repeat("x", pathlock.MaxNoteBytes)
	l := campaign(t.Context(), t, e, longest)
	if leader, err := e.Leader(t.Context()); err != nil || leader.Value != longest {
		t.Errorf("%q leads, %v", leader.Value, err)
	}
	resign(t, l)
}

// Candidates that campaign under one lock, such as the leadership of another election, are
// candidates like any others.
func TestCampaign_candidatesUnderOneLockAreRivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locker := pathlock.New(memstore.New())
		node := campaign(t.Context(), t, election.New(locker, "node"), "host-1")
		shard := election.New(locker, "shard")
		first := campaign(node.Context(), t, shard, "first")
		bounded, cancel := context.WithTimeout(node.Context(), time.Second)
		defer cancel()
		if second, err := shard.Campaign(bounded, "second"); err == nil {
			t.Errorf("two lead, with the terms %d and %d", first.Term(), second.Term())
		}
		resign(t, first)
		resign(t, node)
	})
}
