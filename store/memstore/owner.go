package memstore

import "github.com/pathlock-go/pathlock"

// owner is one owner's part in a table. It exists while the owner holds or waits there.
type owner struct {
	id            pathlock.Owner
	grants, waits requests
	// lease is the one that all grants share but those that are apart.
	lease lease
	// searched is the stamp of the last search that came to the owner.
	searched uint64
}

// holds reports whether the owner holds anything in the tree.
func (o *owner) holds() bool { return o.grants.newest != nil }

// requests is a list of one owner's requests, which are hardly ever more than one. The newest comes
// first: what is taken last is released first.
type requests struct {
	newest *request
}

// find returns the request with an id, nil if there is none.
func (l *requests) find(id pathlock.GrantID) *request {
	for r := l.newest; r != nil; r = r.older {
		if r.Grant == id {
			return r
		}
	}
	return nil
}

func (l *requests) add(r *request) { r.older, l.newest = l.newest, r }

// remove takes out a request that is in the list.
func (l *requests) remove(r *request) {
	link := &l.newest
	for *link != r {
		link = &(*link).older
	}
	*link, r.older = r.older, nil
}

// all yields every request. One that has been yielded may be removed.
func (l *requests) all(yield func(*request) bool) {
	for r := l.newest; r != nil; {
		older := r.older
		if !yield(r) {
			return
		}
		r = older
	}
}
