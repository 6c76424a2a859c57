package storetest

import (
	"context"
	"time"
)

func allOrNothing() topic {
	return topic{"all or nothing", []promise{
		{"a refused set leaves nothing", func(f *fixture) {
			f.actor("holder").takes(x("/held"))
			f.actor("asker").isRefused(x("/a free one"), x("/held"), x("/z free one"))
			f.actor("other").takes(x("/a free one"), x("/z free one"))
		}},
		{"a set whose wait ended leaves nothing", func(f *fixture) {
			holder := f.actor("holder").takes(x("/held"))
			asker := f.actor("asker")
			req := asker.ask(x("/free"), x("/held"))
			req.Wait = 50 * time.Millisecond
			asker.waitsInVain(req)
			f.actor("other").takes(x("/free"))
			holder.release()
			f.actor("other").takes(x("/held"))
		}},
		{"a set whose wait was cancelled leaves nothing", func(f *fixture) {
			holder := f.actor("holder").takes(x("/held"))
			f.actor("asker").queuesFor(x("/free"), x("/held")).isCancelled()
			f.actor("other").takes(x("/free"))
			holder.release()
			f.actor("other").takes(x("/held"))
		}},
		{"a request under a cancelled context leaves nothing", func(f *fixture) {
			ctx, cancel := context.WithCancel(f.ctx)
			cancel()
			asker := f.actor("asker")
			_, err := f.store.Acquire(ctx, asker.ask(x("/a")))
			f.requireIs(err, context.Canceled)
			f.actor("other").takes(x("/a"))
		}},
		{"a waiting set holds no part of what it waits for", func(f *fixture) {
			first := f.actor("first holder").takes(x("/a"))
			second := f.actor("second holder").takes(x("/b"))
			waiter := f.actor("waiter").queuesFor(x("/a"), x("/b"))
			first.release()
			waiter.stillWaits()
			// The waiter waits for the second holder, and does not keep it back; a hold on /a
			// would.
			second.takes(x("/a")).release()
			second.release()
			waiter.isGranted()
		}},
		{"scenario 12: sets that deadlock those who lock path by path", func(f *fixture) {
			f.crossing(
				[]claims{{x("/a-b"), x("/a/b")}, {x("/a"), x("/a-b")}},
				[]claims{{x("/a/b/c"), x("/a/x")}, {x("/a/d/e"), x("/a/y")}},
				[]claims{{x("/1"), x("/2")}, {x("/2"), x("/1")}},
			)
		}},
	}}
}
