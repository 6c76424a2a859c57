package locktable

import "github.com/pathlock-go/pathlock"

// owner is one owner's part in a table. It exists while the owner holds or waits there.
type owner struct {
	id            pathlock.Owner
	grants, waits requests
	// lease is shared by all grants that are not apart.
	lease lease
	// searched is the stamp of the latest search that reached the owner.
	searched uint64
}

// holds reports whether the owner holds anything in the tree.
func (o *owner) holds() bool { return o.grants.newest != nil }

// shares reports whether the owner has a grant that is not apart.
func (o *owner) shares() bool {
	for r := range o.grants.all {
		if r.apartLease == nil {
			return true
		}
	}
	return false
}

// rest notes whether what the owner waits for rests on something that it holds.
func (o *owner) rest(held bool) {
	for r := range o.waits.all {
		r.Held = held
	}
}

// requests is a list of one owner's requests. There is hardly ever more than one. The newest comes
// first, since it is mostly released first.
type requests struct {
	newest *Request
}

// find returns the request with an id, nil if there is none.
func (l *requests) find(id pathlock.GrantID) *Request {
	for r := l.newest; r != nil; r = r.older {
		if r.Grant == id {
			return r
		}
	}
	return nil
}

func (l *requests) add(r *Request) { r.older, l.newest = l.newest, r }

// remove takes out one of the requests.
func (l *requests) remove(r *Request) {
	link := &l.newest
	for *link != r {
		link = &(*link).older
	}
	*link, r.older = r.older, nil
}

// all yields every request. The loop may remove the one that it got.
func (l *requests) all(yield func(*Request) bool) {
	for r := l.newest; r != nil; {
		older := r.older
		if !yield(r) {
			return
		}
		r = older
	}
}
