package storetest

func gate() topic {
	return topic{"gate", []promise{
		{"an owner of node locks that asks for the gate passes one that waits for the gate, and so for that owner", func(f *fixture) {
			holder := f.actor("holder")
			h := holder.takes(ix("/a"))
			other := f.actor("migration")
			waiter := other.queue(f.ctx, other.askGate())
			upgraded := holder.take(holder.askGate())
			waiter.stillWaits()
			h.release()
			waiter.stillWaits()
			upgraded.release()
			waiter.isGranted().release()
			f.actor("other").takes(x("/a"))
		}},
		{"where several hold, one that asks for the gate passes one that waits for it, and the gate closes again if it gives up", func(f *fixture) {
			reader := f.actor("reader").takes(s("/b"))
			holder := f.actor("holder")
			h := holder.takes(ix("/a"))
			other := f.actor("migration")
			waiter := other.queue(f.ctx, other.askGate())
			upgrade := holder.queue(f.ctx, holder.askGate())
			upgrade.isCancelled()
			waiter.stillWaits()
			f.actor("late").isRefused(is("/c"))
			h.release()
			reader.release()
			waiter.isGranted()
		}},
		{"a cycle of waits through the gate is a deadlock", func(f *fixture) {
			a, b := f.actor("first"), f.actor("second")
			a.takes(x("/a"))
			second := b.takes(x("/b"))
			p := a.queue(f.ctx, a.askGate())
			b.deadlock(b.ask(x("/a")))
			second.release()
			p.isGranted()
		}},
	}}
}
