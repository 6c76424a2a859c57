package fsck

// overlay is what a dry run would have changed by now: later steps see it in place of the
// database's rows. It needs memory for each row that would be renamed, moved or created, not for
// those that would get another path.
type overlay struct {
	rows map[Key]*row
	// names has the changed rows by the names that they would have.
	names map[sibling]Key
	at    map[Key]sibling
}

func newOverlay() *overlay {
	return &overlay{rows: make(map[Key]*row), names: make(map[sibling]Key), at: make(map[Key]sibling)}
}

// sibling is a name below a parent; the parent is none for all that are at the top of the paths.
type sibling struct {
	tree, parent Key
	name         string
	// digits is the length of the number behind it, where it is the beginning of a name.
	digits int
}

// freshKey is the key of a row that a dry run would have created, such as "new:1".
type freshKey string

// row returns a row that would have been created, or nil.
func (o *overlay) row(k Key) *row {
	if o == nil {
		return nil
	}
	if _, fresh := k.v.(freshKey); !fresh {
		return nil
	}
	return o.rows[k]
}

// patch returns a row as it would be by now.
func (o *overlay) patch(r *row) *row {
	if o == nil || o.rows[r.key] == nil {
		return r
	}
	patched := *o.rows[r.key]
	patched.path, patched.idPath = r.path, r.idPath
	return &patched
}

// isIn reports whether a row that is changed is in a tree by now.
func (o *overlay) isIn(key, tree Key) bool {
	if o == nil || o.rows[key] == nil {
		return false
	}
	return o.rows[key].tree == tree
}

// put replaces a row.
func (o *overlay) put(at sibling, r *row) {
	if before, ok := o.at[r.key]; ok {
		delete(o.names, before)
	}
	o.rows[r.key], o.names[at], o.at[r.key] = r, r.key, at
}

// holder returns the changed row that would have a name by now.
func (o *overlay) holder(at sibling) (Key, bool) {
	if o == nil {
		return Key{}, false
	}
	holder, ok := o.names[at]
	return holder, ok
}

// hasChanged reports whether a row would have been changed by now, so that the name that it has in
// the database does not count.
func (o *overlay) hasChanged(key Key) bool { return o != nil && o.rows[key] != nil }
