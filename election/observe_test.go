package election_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestObserversSeeEachLeader(t *testing.T) {
	onAStore(t, func(t *testing.T, store pathlock.Store) {
		const observers = 5
		var all []<-chan seen
		var ends []func()
		for range observers {
			leaders, end := watch(t.Context(), t, newElection(t, store).Observe)
			all, ends = append(all, leaders), append(ends, end)
		}
		expect := func(want election.Leader) {
			t.Helper()
			for _, leaders := range all {
				got := within(t, "an observer sees "+want.Value, leaders)
				if got.err != nil || got.leader.Value != want.Value || got.leader.Term != want.Term || got.leader.IsZero() != got.leader.Since.IsZero() {
					t.Fatalf("an observer sees %v, want %v", got, want)
				}
			}
		}
		expect(election.Leader{})
		a := campaign(t.Context(), t, newElection(t, store), "a")
		expect(election.Leader{Value: "a", Term: a.Term()})
		next := inBackground(t, store, "b")
		resign(t, a)
		b := within(t, "b leads", next)
		expect(election.Leader{Value: "b", Term: b.Term()})
		resign(t, b)
		expect(election.Leader{})
		for _, end := range ends {
			end()
		}
		for _, leaders := range all {
			if len(leaders) > 0 {
				t.Errorf("an observer sees more: %v", <-leaders)
			}
		}
	})
}

// calls is a store that records the calls that an observer makes.
type calls struct {
	pathlock.Store
	mu   sync.Mutex
	made []string
}

func (*calls) Local() bool { return false }

func (c *calls) record(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, what)
}

// since returns the calls since the last time, sorted.
func (c *calls) since() (made string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.made) // releases are made in the background
	made, c.made = strings.Join(c.made, " "), nil
	return made
}

func (c *calls) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	c.record("acquire")
	return c.Store.Acquire(ctx, req)
}

func (c *calls) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	c.record("release")
	return c.Store.Release(ctx, tree, owner, id)
}

func (c *calls) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	c.record("snapshot")
	return c.Store.Snapshot(ctx, tree)
}

// While somebody leads, an observer asks the store nothing, and hears of the end at once. While
// nobody does, it asks at most once a second after a while.
func TestObserversDoNotPollALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		counted := &calls{Store: store}
		candidates, _ := newProcess(store)
		observer, locker := newProcess(counted)
		leaders, end := watch(t.Context(), t, observer.Observe)
		if first := <-leaders; !first.leader.IsZero() {
			t.Fatalf("%v leads an empty election", first.leader)
		}

		time.Sleep(time.Minute)
		synctest.Wait()
		counted.since()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := strings.Count(counted.since(), "snapshot"); n < 3600 || n > 2*3600 {
			t.Errorf("%d looks in an hour without a leader, want one in half a second to a second", n)
		}

		a := campaign(t.Context(), t, candidates, "a")
		elected := time.Now()
		if got := <-leaders; got.leader.Term != a.Term() || time.Since(elected) > time.Second {
			t.Errorf("an observer sees %v after %v", got, time.Since(elected))
		}
		synctest.Wait()
		counted.since()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if made := counted.since(); made != "" {
			t.Errorf("a day of a leader costs an observer %q", made)
		}
		next := make(chan *election.Leadership)
		go func() {
			b, err := candidates.Campaign(t.Context(), "b")
			if err != nil {
				t.Error(err)
			}
			next <- b
		}()
		synctest.Wait()
		resigned := time.Now()
		resign(t, a)
		b := <-next
		if got := <-leaders; got.leader.Term != b.Term() || time.Since(resigned) != 0 {
			t.Errorf("an observer sees %v after %v", got, time.Since(resigned))
		}
		synctest.Wait()
		if made := counted.since(); made != "acquire release snapshot" {
			t.Errorf("another leader costs an observer %q", made)
		}

		end()
		synctest.Wait()
		snapshot, err := locker.Snapshot(t.Context(), mustTree(t, observer))
		if err != nil || len(snapshot.Waiters) != 0 || len(snapshot.Holders) != 1 {
			t.Errorf("after the end of the observer: %v, %v", snapshot, err)
		}
		resign(t, b)
	})
}

func mustTree(t *testing.T, e *election.Election) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree(election.Namespace, e.Name())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// stuck is a store whose releases hang, as those of a process that was stopped.
type stuck struct {
	pathlock.Store
	free <-chan struct{}
}

func (*stuck) Local() bool { return false }

func (s *stuck) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	<-s.free
	return s.Store.Release(ctx, tree, owner, id)
}

// Observers that hang with what they were granted delay no election, not even one of the same
// candidate.
func TestObserversDelayNoElection(t *testing.T) {
	onAStore(t, func(t *testing.T, store pathlock.Store) {
		free := make(chan struct{})
		candidate := newElection(t, store)
		leader := campaign(t.Context(), t, candidate, "term 0")
		var all []<-chan seen
		for range 3 {
			leaders, _ := watch(t.Context(), t, newElection(t, &stuck{store, free}).Observe)
			all = append(all, leaders)
		}
		for term := range 3 {
			for _, leaders := range all {
				if got := within(t, "an observer", leaders); got.leader.Value != leader.Value() {
					t.Fatalf("an observer sees %v, want %s", got, leader.Value())
				}
			}
			next := inBackground(t, store, fmt.Sprintf("term %d", term+1))
			resign(t, leader)
			leader = within(t, "the next leader", next)
		}
		resign(t, leader)
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		resign(t, campaign(ctx, t, candidate, "again"))
		close(free)
	})
}

// A leader can observe its own election: it is woken as any other is, and does not hold up itself.
func TestALeaderObservesItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &calls{Store: memstore.New()}
		e, _ := newProcess(store)
		a := campaign(t.Context(), t, e, "a")
		leaders, _ := watch(a.Context(), t, e.Observe)
		if got := <-leaders; got.leader.Term != a.Term() {
			t.Errorf("the leader sees %v", got)
		}
		synctest.Wait()
		store.since()
		time.Sleep(time.Hour)
		synctest.Wait()
		if made := store.since(); made != "" {
			t.Errorf("a leader that observes itself asks the store %q", made)
		}
		resign(t, a)
	})
}

// broken is a store whose snapshots fail with an error, if there is one.
type broken struct {
	pathlock.Store
	mu  sync.Mutex
	err error
}

func (b *broken) set(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *broken) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *broken) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	if err := b.failure(); err != nil {
		return pathlock.Snapshot{}, err
	}
	return b.Store.Snapshot(ctx, tree)
}

func (b *broken) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if err := b.failure(); err != nil {
		return pathlock.Grant{}, err
	}
	return b.Store.Acquire(ctx, req)
}

// An observer reports that the store does not answer, goes on, and says who leads when it knows
// again. It ends when the store was closed.
func TestObserversOutliveAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &broken{Store: memstore.New()}
		e, _ := newProcess(store)
		a := campaign(t.Context(), t, e, "a")
		store.set(fmt.Errorf("%w: an outage", pathlock.ErrUnavailable))
		leaders, _ := watch(t.Context(), t, e.Observe)
		for range 3 {
			if got := <-leaders; !errors.Is(got.err, pathlock.ErrUnavailable) || !got.leader.IsZero() {
				t.Fatalf("during the outage: %v", got)
			}
		}
		store.set(nil)
		got := <-leaders
		for got.err != nil {
			got = <-leaders
		}
		if got.leader.Term != a.Term() {
			t.Errorf("after the outage: %v", got)
		}
		store.set(fmt.Errorf("%w: closed: %w", pathlock.ErrUnavailable, pathlock.ErrClosed))
		resign(t, a)
		if got := <-leaders; !errors.Is(got.err, pathlock.ErrClosed) {
			t.Errorf("after the close: %v", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(leaders) != 0 {
			t.Errorf("more after the close: %v", <-leaders)
		}
	})
}

// Where no more may wait, an observer looks from time to time.
func TestObserversGoOnWhereTheQueueIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		full := &fullQueue{store}
		candidates, _ := newProcess(store)
		observer, _ := newProcess(full)
		a := campaign(t.Context(), t, candidates, "a")
		leaders, _ := watch(t.Context(), t, observer.Observe)
		if got := <-leaders; got.leader.Term != a.Term() {
			t.Errorf("an observer sees %v", got)
		}
		resign(t, a)
		b := campaign(t.Context(), t, candidates, "b")
		elected := time.Now()
		if got := <-leaders; got.leader.Term != b.Term() || time.Since(elected) > time.Second {
			t.Errorf("an observer sees %v after %v", got, time.Since(elected))
		}
		resign(t, b)
	})
}

// fullQueue is a store in which nobody may wait.
type fullQueue struct{ pathlock.Store }

func (s *fullQueue) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	req.Wait = 0
	return s.Store.Acquire(ctx, req)
}

// Metrics can tell the requests of an election from others, whoever campaigns and observes. What a
// leader does is not one of them.
func TestRequestsOfElectionsSaySo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		e, locker := newProcess(store)
		ctx := pathlock.WithOrigin(t.Context(), pathlock.Origin{Operation: "nightly"})
		a := campaign(ctx, t, e, "a")
		leaders, end := watch(ctx, t, e.Observe)
		<-leaders
		won := make(chan *election.Leadership, 1)
		go func() { won <- campaign(ctx, t, e, "b") }()
		synctest.Wait()
		tree, err := pathlock.NewTree(election.Namespace, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := locker.Snapshot(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		var operations []string
		for _, h := range slices.Concat(snapshot.Holders, snapshot.Waiters) {
			operations = append(operations, h.Origin.Operation)
		}
		if want := []string{election.OperationCampaign, election.OperationObserve, election.OperationCampaign}; !slices.Equal(operations, want) {
			t.Errorf("leader, observer and candidate are %q, want %q", operations, want)
		}
		if o := pathlock.OriginOf(a.Context()); o.Operation != "nightly" {
			t.Errorf("under the leadership, the origin is %+v", o)
		}
		resign(t, a)
		b := <-won
		end()
		resign(t, b)
	})
}
