package memstore

// cycle returns the holder in r's way who waits, directly or through other
// holders, for r's owner. Nobody can wait for an owner that holds nothing, and
// holders wait for holders alone, so that this search among them is exact.
func (t *table) cycle(r *request) obstacle {
	if t.waiters == 0 || !r.owner.holds() {
		return obstacle{}
	}
	seen := make(map[*owner]bool)
	for i := range r.places {
		for by := range r.places[i].holders {
			if by.request.owner.waitsFor(r.owner, seen) {
				return obstacle{&r.places[i], by}
			}
		}
	}
	return obstacle{}
}

// waitsFor reports whether target has to let something go before all that o waits for can be granted.
// The owners in seen have been looked at already.
func (o *owner) waitsFor(target *owner, seen map[*owner]bool) bool {
	if o == target {
		return true
	}
	if o.waits.newest == nil || seen[o] {
		return false
	}
	seen[o] = true
	for r := range o.waits.all {
		for i := range r.places {
			for by := range r.places[i].holders {
				if by.request.owner.waitsFor(target, seen) {
					return true
				}
			}
		}
	}
	return false
}
