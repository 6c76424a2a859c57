package storetest

func fences() topic {
	return topic{"fences", []promise{
		{"they grow strictly with every grant in a tree", func(f *fixture) {
			last := uint64(0)
			for i := range 20 {
				a := f.actor("owner")
				h := a.takes(s("/a"))
				last = f.requireGrowth(last, h)
				if i%2 == 0 {
					h.release()
				}
				last = f.requireGrowth(last, a.takes(s("/b")))
			}
		}},
		{"they grow after everything was released", func(f *fixture) {
			last := uint64(0)
			for range 5 {
				h := f.actor("owner").takes(x("/"))
				last = f.requireGrowth(last, h)
				h.release()
				f.requireEmpty(f.tree)
			}
		}},
		{"they grow in order of the hand-over", func(f *fixture) {
			h := f.actor("holder").takes(x("/a"))
			last := h.fence
			queue := []*pending{f.actor("first").queuesFor(x("/a")), f.actor("second").queuesFor(x("/a"))}
			for _, p := range queue {
				h.release()
				h = p.isGranted()
				last = f.requireGrowth(last, h)
			}
		}},
		{"they grow with gates, and from gates to claims", func(f *fixture) {
			last := uint64(0)
			for range 3 {
				h := f.actor("migration").takesGate()
				last = f.requireGrowth(last, h)
				h.release()
				h = f.actor("owner").takes(x("/a"))
				last = f.requireGrowth(last, h)
				h.release()
			}
		}},
		{"they grow after a lease ended", func(f *fixture) {
			crashed := f.actor("crashed").leases(f.short, x("/a"))
			f.pass(f.short)
			f.requireGrowth(crashed.fence, f.actor("next").takes(x("/a")))
		}},
	}}
}

// requireGrowth checks that h's fence is greater than last, and returns it.
func (f *fixture) requireGrowth(last uint64, h *held) uint64 {
	f.Helper()
	if h.fence <= last {
		f.Errorf("fence %d after %d", h.fence, last)
	}
	return h.fence
}
