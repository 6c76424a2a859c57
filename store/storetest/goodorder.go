package storetest

// goodOrder is about owners who wait for more, and meanwhile give back all that they held.
func goodOrder() topic {
	return topic{"released in good order", []promise{
		{"what waits on top of a hold keeps waiting, as a request of an owner who holds nothing", func(f *fixture) {
			f.outwaits(func(a *actor, h *held) { h.release() })
		}},
		{"so it does where the hold was detached", func(f *fixture) {
			f.outwaits(func(a *actor, h *held) { a.detaches(long) })
		}},
	}}
}

// outwaits requires that a request which was sent on top of a hold outlives that hold by some of
// its own leases.
func (f *fixture) outwaits(letGo func(*actor, *held)) {
	f.Helper()
	other := f.actor("other").takes(x("/b"))
	a := f.actor("editor")
	h := a.takes(x("/a"))
	req := a.ask(x("/b"))
	req.Held, req.Lease = true, 3*short
	p := a.queue(f.ctx, req)
	letGo(a, h)
	f.pass(2 * req.Lease)
	p.stillWaits()
	other.release()
	p.isGranted()
}
