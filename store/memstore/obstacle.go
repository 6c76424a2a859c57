package memstore

// obstacle is why a request cannot be granted: one of its places, and a place
// of another request that conflicts with it. The zero obstacle is none.
type obstacle struct {
	asked, by *place
}

// holder returns a granted request that conflicts with r.
func (r *request) holder() obstacle {
	for i := range r.places {
		for by := range r.places[i].holders {
			return obstacle{&r.places[i], by}
		}
	}
	return obstacle{}
}

// predecessor returns a waiting request that r has to let go first: one that came before r and
// conflicts with it, unless it waits for r's owner.
func (r *request) predecessor() obstacle {
	for by := range r.earlier {
		if !r.mayPass(by.request) {
			return obstacle{r.placeAt(by.node), by}
		}
	}
	return obstacle{}
}

// placeAt returns r's place at a node that it claims.
func (r *request) placeAt(n *node) *place {
	for i := range r.places {
		if r.places[i].node == n {
			return &r.places[i]
		}
	}
	return nil
}

// obstacle returns one of the requests that r has to wait for. It prefers the waiter next before r:
// those who queue for the same thing then watch each other in a chain, and only the
// first of them is looked at when the thing is free.
func (t *table) obstacle(r *request) obstacle {
	if t.waiters > 0 {
		if o := r.predecessor(); o.by != nil {
			return o
		}
	}
	return r.holder()
}

// isFree reports whether nobody at all has, or waits for, what conflicts with r: then there is
// neither an obstacle nor anybody to pass, whoever waits elsewhere.
func (r *request) isFree() bool {
	for i := range r.places {
		if !r.places[i].isFree() {
			return false
		}
	}
	return true
}
