package pathlock

import "slices"

// Claims returns what the lock was asked for. Of a lock that [Locker.Attach] has returned it is
// what the hold has: every node, intentions included, in folded paths (see [Locker.Folded]).
func (k *Lock) Claims() []Claim { return slices.Clone(k.request.Claims) }

// Folded returns the path under which the locker keeps the locks of a node, so that it can be
// compared with the claims of a hold. The error matches [ErrInvalidPath]: see [WithFold].
func (l *Locker) Folded(p Path) (Path, error) { return foldPath(p, l.fold) }
