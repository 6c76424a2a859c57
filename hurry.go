package pathlock

import "time"

// hurry makes everything due for renewal that an owner holds in a tree, so that a hold which the
// store has given up ends at once. The store is asked instead of believed to have nothing: what the
// owner has acquired meanwhile is no loss.
func (r *renewer) hurry(tree Tree, owner Owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	hurry := func(h *holding) {
		if h.tree == tree && h.scope.owner == owner {
			h.term.renew = now
			r.reschedule(h)
		}
	}
	for _, h := range r.fresh {
		hurry(h)
	}
	if a := r.plan.trees[tree]; a != nil {
		// Planning anew reorders the agenda.
		for _, h := range append(schedule[*holding](nil), a.holdings...) {
			hurry(h)
		}
	}
}
