package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

func givingUp() topic {
	return topic{"giving up", []promise{
		{"a wait that is over ends with a conflict that tells how long it was, and lets in those behind it", func(f *fixture) {
			f.actor("reader").takes(s("/a"))
			a := f.actor("impatient writer")
			req := a.ask(x("/a"))
			req.Wait = 3 * f.short
			began := time.Now()
			writer := a.queue(f.ctx, req)
			late := f.actor("late reader").queuesFor(s("/a"))
			err := writer.fails()
			c := a.conflict(err)
			if elapsed := time.Since(began); c.Waited < req.Wait || c.Waited > elapsed {
				f.Errorf("Waited is %v, want at least %v and at most %v", c.Waited, req.Wait, elapsed)
			}
			if errors.Is(err, context.DeadlineExceeded) {
				f.Errorf("%v matches context.DeadlineExceeded, though no context ended", err)
			}
			late.isGranted()
			f.waiters(0)
		}},
		{"a wait that the context's deadline ends is a conflict that matches context.DeadlineExceeded", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			a := f.actor("asker")
			var blocker pathlock.Blocker
			for tries := 0; tries < mostUnnamed && blocker.IsZero(); tries++ {
				ctx, cancel := context.WithTimeout(f.ctx, f.short)
				defer cancel()
				req, queued := a.ask(x("/a")), false
				req.Wait, req.Waiting = long, func() { queued = true }
				err := a.start(ctx, req).fails()
				f.requireIs(err, context.DeadlineExceeded)
				f.waiters(0)
				if queued { // or the time was up before the store had answered
					blocker = a.conflict(err).Blocker
				}
			}
			if blocker.Owner != holder.owner {
				f.Errorf("blocked by %q, want the holder", blocker.Note)
			}
		}},
		{"a request under a cancelled context leaves nothing", func(f *fixture) {
			ctx, cancel := context.WithCancel(f.ctx)
			cancel()
			_, err := f.store.Acquire(ctx, f.actor("asker").ask(x("/a")))
			f.requireIs(err, context.Canceled)
			f.actor("other").takes(x("/a"))
		}},
		{"a cancel that meets the grant leaves no ghost", func(f *fixture) {
			for range 25 {
				holder := f.actor("holder").takes(x("/a"))
				waiter := f.actor("waiter").queuesFor(x("/a"))
				go waiter.cancel()
				holder.release()
				if waiter.over(); waiter.err == nil {
					waiter.isGranted().release()
				} else {
					f.requireIs(waiter.err, context.Canceled)
				}
				f.actor("other").takes(x("/a")).release()
			}
		}},
		{"requests that are cancelled on the way do not disturb others", func(f *fixture) {
			began := time.Now()
			f.actor("first").takes(x("/a")).release()
			took := time.Since(began)
			var all sync.WaitGroup
			for client := range 8 {
				a := f.actor(fmt.Sprintf("client %d", client))
				all.Go(func() {
					for round := range 50 {
						ctx, cancel := context.WithCancel(f.ctx)
						stays := round%10 == 0
						switch {
						case stays:
						case took > 0:
							time.AfterFunc(rand.N(took), cancel)
						default: // in virtual time
							go cancel()
						}
						req := a.ask(x("/" + a.name))
						_, err := f.store.Acquire(ctx, req)
						switch {
						case err == nil:
							err = f.store.Release(f.ctx, req.Tree, req.Owner, req.Grant)
						case !stays && errors.Is(err, context.Canceled):
							err = nil
						}
						cancel()
						if err != nil {
							f.Errorf("%s, round %d: %v", a.name, round, err)
						}
					}
				})
			}
			all.Wait()
			// A store may still be taking back what it granted too late, but not for long.
			left := func() bool { return len(f.snapshot(f.tree).Holders) > 0 || slices.Contains(f.trees(), f.tree) }
			for tries := 0; tries < 100 && left(); tries++ {
				time.Sleep(100 * time.Millisecond)
			}
		}},
	}}
}
