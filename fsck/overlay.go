package fsck

// overlay has the changes of a dry run: later steps see them instead of the database's rows. It
// needs memory for each row that is renamed, moved or created, but not for changed paths.
type overlay struct {
	rows map[Key]*row
	// names has the keys of changed rows by their names, at the names by their keys.
	names map[sibling]Key
	at    map[Key]sibling
}

func newOverlay() *overlay {
	return &overlay{rows: make(map[Key]*row), names: make(map[sibling]Key), at: make(map[Key]sibling)}
}

// sibling is a name below a parent. The parent is the zero Key at the top of the paths.
type sibling struct {
	tree, parent Key
	name         string
	// digits is the length of the number behind the name, if name is the stem of a numbered one.
	digits int
}

// freshKey is the key of a row that a dry run creates, such as "new:1".
type freshKey string

// row returns the created row with the key, or nil.
func (o *overlay) row(k Key) *row {
	if o == nil {
		return nil
	}
	if _, fresh := k.v.(freshKey); !fresh {
		return nil
	}
	return o.rows[k]
}

// patch returns a row with the changes so far.
func (o *overlay) patch(r *row) *row {
	if o == nil || o.rows[r.key] == nil {
		return r
	}
	patched := *o.rows[r.key]
	patched.path, patched.idPath = r.path, r.idPath
	return &patched
}

// isIn reports whether a changed row is in a tree.
func (o *overlay) isIn(key, tree Key) bool {
	if o == nil || o.rows[key] == nil {
		return false
	}
	return o.rows[key].tree == tree
}

// put stores a changed row under its name.
func (o *overlay) put(at sibling, r *row) {
	if before, ok := o.at[r.key]; ok {
		delete(o.names, before)
	}
	o.rows[r.key], o.names[at], o.at[r.key] = r, r.key, at
}

// holder returns the changed row that has a name.
func (o *overlay) holder(at sibling) (Key, bool) {
	if o == nil {
		return Key{}, false
	}
	holder, ok := o.names[at]
	return holder, ok
}

// hasChanged reports whether a row is changed, so that its name in the database does not count.
func (o *overlay) hasChanged(key Key) bool { return o != nil && o.rows[key] != nil }
