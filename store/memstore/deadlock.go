package memstore

// cycle returns the holder in r's way who waits, directly or through others, for r's owner. Nobody can wait
// for an owner that holds nothing.
func (t *table) cycle(r *request) obstacle {
	if t.waiters == 0 || !r.owner.holds() {
		return obstacle{}
	}
	t.markWaiters(r.owner, noLimit)
	for i := range r.places {
		for by := range r.places[i].holders {
			for w := range by.request.owner.waits.all {
				if w.found == t.stamp {
					return obstacle{&r.places[i], by}
				}
			}
		}
	}
	return obstacle{}
}

// advance returns the waiting requests of an owner that has been granted something, which watch nothing any
// more: some of those who kept them back may wait for the owner now. Those of which holders are in the way
// who wait for the owner end with a deadlock.
func (t *table) advance(o *owner) (unwatched []*request) {
	if o.waits.newest == nil {
		return nil
	}
	var waits []*request
	for r := range o.waits.all {
		waits = append(waits, r)
	}
	sortByArrival(waits)
	for _, r := range waits {
		if cycle := t.cycle(r); cycle.by != nil {
			r.err = t.deadlockError(r, cycle)
			unwatched = append(unwatched, t.remove(r)...)
			close(r.done)
			continue
		}
		r.unwatch()
		unwatched = append(unwatched, r)
	}
	t.stale = true
	return unwatched
}
