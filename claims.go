package pathlock

// Claims returns what the lock relies on: every node, intentions included, in folded paths (see
// [Locker.Folded]). Of a lock that [Locker.Attach] has returned that is what the hold has. Of any
// other it may be more than was asked for, where the lock re-enters.
func (k *Lock) Claims() []Claim {
	k.holding.scope.mu.Lock()
	defer k.holding.scope.mu.Unlock()
	var all []Claim
	for _, g := range k.pins {
		all = append(all, g.claims...)
	}
	return Normalize(all...)
}

// Folded returns the path under which the locker keeps the locks of a node, so that it can be
// compared with the claims of a hold. The error matches [ErrInvalidPath]: see [WithFold].
func (l *Locker) Folded(p Path) (Path, error) { return foldPath(p, l.fold) }
