package ticketstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

func TestAcquire_crowdTakesFewUpdatesEach(t *testing.T) {
	inBubble(t, func(s *fixture) {
		const crowd = 50
		other, holder := s.process()
		s.takes(holder, "holder", "/a")
		p, waiting := s.process()
		var ended []<-chan error
		for i := range crowd {
			ended = append(ended, s.begin(s.Context(), waiting, s.ask(fmt.Sprint(i), "/a")))
		}
		queued := p.updates
		if queued > crowd {
			t.Errorf("%d updates for %d requests", queued, crowd)
		}
		before := other.updates
		s.releases(holder, "holder")
		for i, e := range ended {
			testerr.Must(t, <-e)
			synctest.Wait()
			// The one who is let in looks once, and nobody else does.
			if looks := p.updates - queued; looks != 2*i+1 {
				t.Fatalf("%d updates after %d hand-overs", looks, i+1)
			}
			s.releases(waiting, fmt.Sprint(i))
		}
		if updates := other.updates - before; updates != 1 {
			t.Errorf("a release took %d updates", updates)
		}
		s.isEmpty()
	})
}

// Operations that arrive during an update are written together by the next ones. One that asks for
// too much, or goes away, does not affect the others.
func TestAcquire_simultaneousOperationsShareAnUpdate(t *testing.T) {
	inBubble(t, func(s *fixture) {
		const crowd = 200
		p, store := s.process()
		p.largest = 20_000
		p.stop()
		var all sync.WaitGroup
		ask := func(ctx context.Context, owner, path string, want error) {
			all.Go(func() {
				if _, err := store.Acquire(ctx, s.ask(owner, path)); !errors.Is(err, want) {
					t.Errorf("%s gets %v, want %v", owner, err, want)
				}
			})
		}
		for i := range crowd {
			ask(s.Context(), fmt.Sprint(i), fmt.Sprint("/n", i), nil)
		}
		synctest.Wait()
		p.resume()
		all.Wait()
		if p.updates > 6 {
			t.Errorf("%d updates for %d requests that came at once", p.updates, crowd)
		}
		p.stop()
		ask(s.Context(), "first", "/first", nil)
		synctest.Wait() // its update is under way
		ask(s.Context(), "next", "/next", nil)
		ask(s.Context(), "greedy", strings.Repeat("/"+strings.Repeat("n", 200), 30), pathlock.ErrInvalidRequest)
		ctx, leave := context.WithCancel(s.Context())
		ask(ctx, "gone", "/gone", context.Canceled)
		synctest.Wait()
		p.set(func() { close(p.answers); p.answers = make(chan struct{}) }) // the first update's alone
		synctest.Wait()
		leave()
		synctest.Wait()
		p.resume()
		all.Wait()
	})
}

// A release, or a lease that is made shorter, concerns more who wait than one update can write: as
// tickets, or as bytes. All of them are let in, and none late.
func TestAcquire_handOverInPortions(t *testing.T) {
	for what, limits := range map[string]struct{ limit, largest int }{"tickets": {limit: 20}, "bytes": {largest: 2_000}} {
		for _, transfers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, transfers: %v", what, transfers), func(t *testing.T) {
				inBubble(t, func(s *fixture) {
					p, store := s.process()
					p.limit, p.largest = limits.limit, limits.largest
					s.takes(store, "holder", "/a")
					var waits []<-chan error
					for i := range 50 {
						req := s.ask(fmt.Sprint(i), "/a")
						req.Claims, req.Lease = pathlock.Normalize(pathlock.S(pathlock.MustParsePath("/a"))), time.Hour
						waits = append(waits, s.begin(s.Context(), store, req))
					}
					began, lease := time.Now(), time.Duration(0)
					if transfers {
						lease = time.Second
						testerr.Must(t, testerr.Of(store.Transfer(s.Context(), pathlock.Transfer{Tree: s.tree, From: "holder", To: "holder", Lease: lease})))
					} else {
						s.releases(store, "holder")
					}
					for _, wait := range waits {
						testerr.Is(t, "a wait", <-wait, nil)
					}
					if took := time.Since(began); took > lease+time.Second {
						t.Errorf("all were let in after %v", took)
					}
				})
			})
		}
	}
}

// A wait can end in an update that lets in as many as it can write. Then nobody is in the way.
func TestAcquire_waitEndsBesideAHandOver(t *testing.T) {
	inBubble(t, func(s *fixture) {
		p, store := s.process()
		p.limit = 20
		s.takes(store, "holder", "/a")
		var waits []<-chan error
		for i := range 50 {
			req := s.ask(fmt.Sprint(i), "/a")
			req.Claims, req.Wait = pathlock.Normalize(pathlock.S(pathlock.MustParsePath("/a"))), req.Lease
			waits = append(waits, s.begin(s.Context(), store, req))
		}
		for _, wait := range waits {
			if err := <-wait; err != nil && !errors.Is(err, pathlock.ErrConflict) {
				t.Errorf("the wait ends with %v", err)
			}
		}
	})
}

// A place, or a hold that has just been handed over, is taken away while its process, which still
// waits as far as it knows, is slow to learn of it. Meanwhile others ask.
func TestAcquire_takenAwayBeforeItsProcessKnows(t *testing.T) {
	for n := range 4 {
		handedOver, replyLost := n&1 != 0, n&2 != 0
		t.Run(fmt.Sprintf("handed over: %v, reply lost: %v", handedOver, replyLost), func(t *testing.T) {
			inBubble(t, func(s *fixture) {
				_, store := s.process()
				slow, other := s.process()
				s.takes(store, "holder", "/a")
				waits := s.begin(s.Context(), other, s.ask("waiter", "/a"))
				slow.stop()
				if handedOver {
					s.releases(store, "holder")
				}
				testerr.Must(t, store.ForceRelease(s.Context(), s.tree, "waiter"))
				next := s.begin(s.Context(), store, s.ask("next", "/a"))
				slow.set(func() { slow.repeats = replyLost })
				slow.resume()
				if err := <-waits; !errors.Is(err, pathlock.ErrLost) {
					t.Errorf("the wait ends with %v, want ErrLost", err)
				}
				if !handedOver {
					s.releases(store, "holder")
				}
				testerr.Is(t, "the next one", <-next, nil)
				s.releases(store, "next")
				s.isEmpty()
			})
		})
	}
}

// An owner may hold and wait for more than one update can write.
func TestForceRelease_ofManyInPortions(t *testing.T) {
	inBubble(t, func(s *fixture) {
		p, store := s.process()
		p.limit = 20
		s.takes(store, "others", "/other")
		var waits []<-chan error
		for i := range 50 {
			held, waiting := s.ask("many", fmt.Sprint("/", i)), s.ask("many", fmt.Sprint("/other/", i))
			held.Grant, waiting.Grant = pathlock.GrantID(fmt.Sprint("h", i)), pathlock.GrantID(fmt.Sprint("w", i))
			testerr.Must(t, testerr.Of(store.Acquire(s.Context(), held)))
			waits = append(waits, s.begin(s.Context(), store, waiting))
		}
		testerr.Must(t, store.ForceRelease(s.Context(), s.tree, "many"))
		for _, wait := range waits {
			testerr.Is(t, "a wait", <-wait, pathlock.ErrLost)
		}
		testerr.Is(t, "once more", store.ForceRelease(s.Context(), s.tree, "many"), pathlock.ErrNotHeld)
		s.takes(store, "next", "/1")
	})
}

// Everything that depends on a hold ends with it, even if the server has ended the hold's ticket by
// itself: a wait of its owner, and a grant that is apart from it.
func TestHold_endedByTheServerEndsItsDependents(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, store := s.process()
		s.takes(store, "reader", "/b")
		s.takes(store, "owner", "/a")
		apart := s.ask("owner", "/c")
		apart.Grant, apart.Apart, apart.Held = "apart", true, true
		testerr.Must(t, testerr.Of(store.Acquire(s.Context(), apart)))
		more := s.ask("owner", "/b")
		more.Grant = "more"
		waits := s.begin(s.Context(), store, more)
		s.mu.Lock()
		maps.DeleteFunc(s.trees[s.tree], func(_ string, t ticketstore.Ticket) bool { return t.Grant == "owner" })
		s.mu.Unlock()
		other := s.ask("other", "/c")
		other.Wait = 0
		testerr.Is(t, "another asks for what was apart", testerr.Of(store.Acquire(s.Context(), other)), nil)
		if err := <-waits; !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("the wait ends with %v, want ErrLost", err)
		}
	})
}

// What a grant is apart from is released: one that is held lives on as before, and one that is
// granted after that has the lease that its owner's grants share.
func TestHold_apartAfterItsBaseIsReleased(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, store := s.process()
		s.takes(store, "owner", "/a")
		apart := s.ask("owner", "/c")
		apart.Grant, apart.Apart, apart.Held = "held", true, true
		testerr.Must(t, testerr.Of(store.Acquire(s.Context(), apart)))
		s.takes(store, "late", "/b")
		late := s.ask("late", "/a")
		late.Grant, late.Apart, late.Held = "waits", true, true
		waits := s.begin(s.Context(), store, late)
		s.releases(store, "late")
		s.releases(store, "owner")
		testerr.Must(t, <-waits)
		testerr.Must(t, testerr.Of(store.Renew(s.Context(), s.tree, []pathlock.Lease{
			{Owner: "late", For: time.Hour}, {Owner: "owner", For: time.Hour}, {Owner: "owner", Grant: "held", For: time.Hour},
		})))
		time.Sleep(2 * late.Lease)
		for _, path := range []string{"/a", "/c"} {
			other := s.ask("other", path)
			other.Wait = 0
			testerr.Is(t, path, testerr.Of(store.Acquire(s.Context(), other)), pathlock.ErrConflict)
		}
	})
}

// A request that is asked for again, while its first call is being taken back, stays granted.
func TestTakeBack_keepsWhatIsAskedForAtOnce(t *testing.T) {
	const timeout, most, requests, callers = 10 * time.Second, 20, 1500, 4
	s := ticketstore.New("drawer", newProcess(newDrawer()), timeout)
	var asking sync.WaitGroup
	for range callers {
		asking.Go(func() {
			tree := testlock.Tree(t)
			for i := range requests {
				req := testlock.Ask(tree, testlock.X("/a"))
				late := req
				late.Wait, late.Spent = 0, timeout-time.Duration(i%most)*time.Microsecond
				_, _ = s.Acquire(t.Context(), late)
				_, err := s.Acquire(t.Context(), req)
				if err := errors.Join(err, s.Release(t.Context(), tree, req.Owner, req.Grant)); err != nil {
					t.Errorf("request %d: %v", i, err)
					return
				}
			}
		})
	}
	asking.Wait()
}
