package storetest

import (
	"sync"

	"github.com/pathlock-go/pathlock"
)

// claims is a claim set as a caller writes it.
type claims = []pathlock.Claim

func queueing() topic {
	return topic{"queueing", []promise{
		{"a release hands over to the one who waits", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			waiter := f.actor("waiter").queuesFor(x("/a"))
			waiter.stillWaits()
			holder.release()
			waiter.isGranted()
			f.actor("other").isRefused(x("/a"))
		}},
		{"conflicting requests are served first come first served", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			var queue []*pending
			for range 10 {
				queue = append(queue, f.actor("waiter").queuesFor(x("/a")))
			}
			for i, waiter := range queue {
				for _, later := range queue[i:] {
					later.stillWaits()
				}
				holder.release()
				holder = waiter.isGranted()
			}
		}},
		{"all who may share are let in together", func(f *fixture) {
			holder := f.actor("writer").takes(x("/a"))
			var readers []*pending
			for range 10 {
				readers = append(readers, f.actor("reader").queuesFor(s("/a")))
			}
			holder.release()
			for _, reader := range readers {
				reader.isGranted()
			}
		}},
		{"a release lets in readers up to the next writer, and no further", func(f *fixture) {
			holder := f.actor("writer").takes(x("/a"))
			early := []*pending{f.actor("reader 1").queuesFor(s("/a")), f.actor("reader 2").queuesFor(s("/a"))}
			writer := f.actor("next writer").queuesFor(x("/a"))
			late := f.actor("reader 3").queuesFor(s("/a"))
			holder.release()
			first, second := early[0].isGranted(), early[1].isGranted()
			writer.stillWaits()
			late.stillWaits()
			first.release()
			writer.stillWaits()
			second.release()
			next := writer.isGranted()
			late.stillWaits()
			next.release()
			late.isGranted()
		}},
		{"a request passes waiters that it does not conflict with", func(f *fixture) {
			f.actor("holder").takes(x("/a"))
			f.actor("waiter").queuesFor(x("/a"))
			f.actor("neighbour").takes(x("/b"))
			f.actor("neighbour's reader").takes(s("/c/d"), ix("/c/e"))
		}},
		{"a request waits behind an earlier waiter that it conflicts with, where no holder is in its way", func(f *fixture) {
			holder := f.actor("reader").takes(s("/a"))
			writer := f.actor("writer").queuesFor(x("/a"))
			c := f.actor("late reader").isRefused(s("/a"))
			if !c.Blocker.Waiting || c.Blocker.Owner != writer.owner {
				f.Errorf("blocked by %+v, want the waiting writer", c.Blocker)
			}
			late := f.actor("late reader").queuesFor(s("/a"))
			holder.release()
			granted := writer.isGranted()
			late.stillWaits()
			granted.release()
			late.isGranted()
		}},
		{"an earlier waiter keeps its turn on every node it asks for, also on those that are free", func(f *fixture) {
			holder := f.actor("holder").takes(x("/held"))
			waiter := f.actor("waiter").queuesFor(x("/free"), x("/held"))
			f.actor("late").isRefused(x("/free"))
			late := f.actor("late").queuesFor(x("/free"))
			holder.release()
			granted := waiter.isGranted()
			late.stillWaits()
			granted.release()
			late.isGranted()
		}},
		{"an earlier waiter on an ancestor keeps its turn", func(f *fixture) {
			holder := f.actor("insert").takes(x("/dir/new"))
			rename := f.actor("rename").queuesFor(x("/dir"))
			c := f.actor("late insert").isRefused(x("/dir/other"))
			if c.Blocker.Owner != rename.owner {
				f.Errorf("blocked by %q, want the rename", c.Blocker.Note)
			}
			holder.release()
			rename.isGranted()
		}},
		{"those behind a waiter who goes are let in", func(f *fixture) {
			f.actor("reader").takes(s("/a"))
			writer := f.actor("writer").queuesFor(x("/a"))
			late := f.actor("late reader").queuesFor(s("/a"))
			writer.isCancelled()
			late.isGranted()
		}},
		{"an owner that holds something is not kept back by those who wait for it", func(f *fixture) {
			reader := f.actor("reader")
			reader.takes(s("/a"))
			f.actor("writer").queuesFor(x("/"))
			reader.takes(x("/b"))
			reader.takes(s("/a/deeper"))
			f.actor("stranger").isRefused(x("/c"))
		}},
		{"a conversion never waits behind those who wait for it", func(f *fixture) {
			a := f.actor("converter")
			a.takes(s("/a"))
			reader := f.actor("reader").takes(s("/a"))
			writer := f.actor("writer").queuesFor(x("/a"))
			conversion := a.queuesFor(x("/a"))
			reader.release()
			granted := conversion.isGranted()
			writer.stillWaits()
			granted.release()
			writer.stillWaits()
		}},
		{"a waiter waits for all grants of a holder", func(f *fixture) {
			a := f.actor("holder")
			grants := []*held{a.takes(x("/a")), a.takes(x("/b")), a.takes(x("/a/b"))}
			waiter := f.actor("waiter").queuesFor(x("/"))
			for _, h := range grants {
				waiter.stillWaits()
				h.release()
			}
			waiter.isGranted()
		}},
	}}
}

// crossing lets four owners at a time fight for pairs of claim sets that overlap, and requires that
// every one of them is served again and again.
func (f *fixture) crossing(pairs ...[]claims) {
	const rounds = 10
	for _, pair := range pairs {
		var owners sync.WaitGroup
		for i := range 4 {
			set := pair[i%len(pair)]
			owners.Go(func() {
				a := f.actor("fighter")
				for range rounds {
					req := a.ask(set...)
					req.Wait = long
					if _, err := f.store.Acquire(f.ctx, req); err != nil {
						f.Errorf("%v: %v", set, err)
						return
					}
					if err := f.store.Release(f.ctx, f.tree, a.owner, req.Grant); err != nil {
						f.Errorf("%v: %v", set, err)
						return
					}
				}
			})
		}
		owners.Wait()
	}
}
