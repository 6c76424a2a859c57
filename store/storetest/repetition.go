package storetest

func repetition() topic {
	return topic{"repetition", []promise{
		{"a repeated request is answered with the same grant", func(f *fixture) {
			a := f.actor("owner")
			req := a.ask(x("/a"))
			first := a.take(req)
			if second := a.take(req); second.fence != first.fence {
				f.Errorf("fences %d and %d for one grant", first.fence, second.fence)
			}
			if n := len(f.snapshot(f.tree).Holders); n != 1 {
				f.Errorf("%d grants, want 1", n)
			}
		}},
		{"a repeated request is held once: one release lets go", func(f *fixture) {
			a := f.actor("owner")
			req := a.ask(x("/a"), s("/b"))
			h := a.take(req)
			a.take(req)
			a.take(req)
			h.release()
			f.requireEmpty(f.tree)
			f.actor("other").takes(x("/"))
		}},
		{"a repeated request is granted what it has, though somebody waits for it", func(f *fixture) {
			a := f.actor("owner")
			req := a.ask(x("/a"))
			h := a.take(req)
			waiter := f.actor("waiter").queuesFor(x("/a"))
			a.take(req)
			h.release()
			waiter.isGranted()
		}},
		{"a request that waited and is repeated is answered with the same grant", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			a := f.actor("owner")
			req := a.ask(x("/a"))
			p := a.queue(f.ctx, req)
			holder.release()
			first := p.isGranted()
			if second := a.take(req); second.fence != first.fence {
				f.Errorf("fences %d and %d for one grant", first.fence, second.fence)
			}
			first.release()
			f.requireEmpty(f.tree)
		}},
		{"a request that was refused can be repeated", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			a := f.actor("owner")
			req := a.ask(x("/a"))
			a.refuse(req)
			holder.release()
			a.take(req)
		}},
		{"a request that was cancelled can be repeated", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			a := f.actor("owner")
			req := a.ask(x("/a"))
			a.queue(f.ctx, req).isCancelled()
			holder.release()
			a.take(req)
		}},
		{"one grant id of two owners is two grants", func(f *fixture) {
			a, b := f.actor("owner"), f.actor("other owner")
			req := a.ask(s("/a"))
			h := a.take(req)
			req.Owner = b.owner
			other := b.take(req)
			h.release()
			f.requireHolds(b)
			other.release()
		}},
	}}
}
