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

// What comes while an update is under way is written together by the next ones. Whoever asks for
// too much, or goes away, is alone in that.
func TestAcquire_whatComesTogetherIsWrittenTogether(t *testing.T) {
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

// A reply is lost, or the request is given up while its update is on the way, which comes too late
// then, however long it takes. Nothing is left: else a ticket that nobody has would hold.
func TestTakeBack_ofUnknownOutcomes(t *testing.T) {
	for _, taken := range []bool{false, true} {
		for _, abandoned := range []bool{false, true} {
			t.Run(fmt.Sprintf("somebody is in the way: %v, abandoned: %v", taken, abandoned), func(t *testing.T) {
				inBubble(t, func(s *fixture) {
					p, store := s.process()
					if taken {
						s.takes(store, "holder", "/a")
					}
					p.set(func() { p.loses, p.abandons = !abandoned, abandoned })
					ctx, cancel := context.WithTimeout(s.Context(), time.Second)
					defer cancel()
					_, err := store.Acquire(ctx, s.ask("owner", "/a"))
					if !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) != abandoned {
						t.Errorf("the request ends with %v", err)
					}
					if abandoned && p.land() {
						t.Error("the update was carried out after all")
					}
					if taken {
						s.releases(store, "holder")
					}
					s.isEmpty()
				})
			})
		}
	}
}

// A request of which nothing can have come costs the server nothing more, and the caller no time. A
// server that refuses to write is told in the background.
func TestTakeBack_keepsNobody(t *testing.T) {
	inBubble(t, func(s *fixture) {
		p, store := s.process()
		fails := func(updates int, want error) {
			s.Helper()
			began := time.Now()
			testerr.Is(t, "a request", testerr.Of(store.Acquire(s.Context(), s.ask("owner", "/a"))), want)
			if took := time.Since(began); took > 0 || p.updates != updates {
				s.Errorf("it took %v and %d updates, want none and %d", took, p.updates, updates)
			}
		}
		p.set(func() { p.dead = true })
		fails(1, pathlock.ErrUnavailable)
		p.set(func() { p.dead, p.largest = false, 1 })
		fails(2, pathlock.ErrInvalidRequest)
		p.set(func() { p.largest, p.refuses = 0, true })
		fails(4, pathlock.ErrUnavailable)
		p.set(func() { p.refuses = false })
		time.Sleep(time.Second)
		s.isEmpty()
	})
}

// A request that failed, and is asked for again, is not taken back any more, even if the store
// could not be reached so far.
func TestTakeBack_keepsWhatIsAskedForAgain(t *testing.T) {
	inBubble(t, func(s *fixture) {
		p, store := s.process()
		p.set(func() { p.dead = true })
		testerr.MustBe(t, "without a connection", testerr.Of(store.Acquire(s.Context(), s.ask("owner", "/a"))), pathlock.ErrUnavailable)
		p.set(func() { p.dead = false })
		s.takes(store, "owner", "/a")
		time.Sleep(10 * time.Second)
		s.releases(store, "owner")
		s.isEmpty()
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

// What rests on a hold ends with it, even if the server has ended the hold's ticket by itself: a
// wait of its owner, and a grant that is apart from it.
func TestHold_endedByTheServerEndsWhatRestsOnIt(t *testing.T) {
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
func TestHold_apartFromWhatIsReleased(t *testing.T) {
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

// closing is a backend that can be closed.
type closing struct {
	*process
	closed chan struct{}
	err    error
}

func (c *closing) Close() error {
	close(c.closed)
	return c.err
}

// TestClose_ClosesTheBackend: when nothing uses it any more, however the call of Close has ended.
// What is under way ends as soon as the backend lets it.
func TestClose_ClosesTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := func(change func(*process)) (*closing, pathlock.Store, <-chan error) {
			backend := &closing{newProcess(newDrawer()), make(chan struct{}), errors.New("already gone")}
			s, asked := ticketstore.New("memory", backend, time.Minute), make(chan error, 1)
			change(backend.process)
			go func() { asked <- testerr.Of(s.Acquire(t.Context(), testlock.Ask(testlock.Tree(t), testlock.X("/a")))) }()
			synctest.Wait()
			return backend, s, asked
		}
		backend, s, asked := open((*process).stop)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		testerr.Is(t, "Close in a context that has ended", s.Close(ctx), context.Canceled)
		testerr.Is(t, "what does not end", <-asked, pathlock.ErrUnavailable)
		select {
		case <-backend.closed:
			t.Error("the backend is closed while a call uses it")
		default:
		}
		backend.resume()
		<-backend.closed

		backend, s, asked = open(func(p *process) { p.abandons = true })
		began := time.Now()
		testerr.Is(t, "Close", s.Close(t.Context()), backend.err)
		testerr.Is(t, "what is under way", <-asked, pathlock.ErrClosed)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// sweeping is a backend in which trees leave something behind.
type sweeping struct {
	*process
	sweeps int
}

func (b *sweeping) Sweep(context.Context) error {
	b.sweeps++
	return nil
}

// TestSweep_followsUpdates: one now and then, and none without an update.
func TestSweep_followsUpdates(t *testing.T) {
	inBubble(t, func(s *fixture) {
		b := &sweeping{process: newProcess(s.drawer)}
		store := ticketstore.New("memory", b, time.Minute)
		defer func() { _ = store.Close(s.Context()) }()
		for want := range 3 {
			s.takes(store, "owner", "/a")
			s.releases(store, "owner")
			synctest.Wait()
			if b.sweeps != want {
				s.Errorf("there were %d sweeps, want %d", b.sweeps, want)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestProcess_stopsForLongerThanItsLeases: what it held is lost, whether or not somebody else has
// it by then, and no renewal brings it back. What it waits for it asks for again.
func TestProcess_stopsForLongerThanItsLeases(t *testing.T) {
	for _, others := range []bool{false, true} {
		inBubble(t, func(s *fixture) {
			_, store := s.process()
			p, stopped := s.process()
			s.takes(stopped, "holder", "/a")
			s.takes(store, "other", "/b")
			waits := s.begin(s.Context(), stopped, s.ask("waiter", "/b"))
			p.stop()
			time.Sleep(2 * s.ask("waiter", "/b").Lease)
			if others {
				s.takes(store, "next", "/a")
				s.takes(store, "other", "/b")
			}
			p.resume()
			lost, err := stopped.Renew(s.Context(), s.tree, []pathlock.Lease{{Owner: "holder", For: time.Minute}})
			if err != nil || len(lost) != 1 {
				t.Errorf("the renewal: %v are lost, error %v; want the holder", lost, err)
			}
			if others {
				s.releases(store, "other")
				s.releases(store, "next")
			}
			testerr.Is(t, "the wait", <-waits, nil)
			s.releases(stopped, "waiter")
			s.isEmpty()
		})
	}
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
