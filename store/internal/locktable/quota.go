package locktable

// quota bounds how many requests one use of a table grants, for stores that can write only so much
// in one step. What is left over stays in the queue, and waits for nobody.
type quota struct {
	limit, used int
}

// isUsedUp reports whether no further request may be handed anything over.
func (q quota) isUsedUp() bool { return q.limit > 0 && q.used >= q.limit }
