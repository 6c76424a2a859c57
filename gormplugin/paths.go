package gormplugin

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// follow gives a row the paths that follow from where it is: below above, or at the top where above
// is nil. A row without a key gets those up to its own id, which has to be filled in; see
// [Plugin.fillIDs].
func (t *table) follow(n, above *node) {
	if t.isLeaf() {
		n.path = above.path + "/" + n.name
		return
	}
	var path, ids string
	if above != nil {
		path, ids = above.path, above.ids
	}
	switch {
	case t.byIDs:
		n.path = path + "/" + idText(n.id)
	case above == nil:
		n.path = topPath(n.name)
	default:
		n.path = path + "/" + n.name
	}
	if t.ids != nil {
		n.ids = ids + "/" + idText(n.id)
	}
}

// topPath is the path of names of a row without a parent: a root row has no name.
func topPath(name string) string {
	if name == "" {
		return ""
	}
	return "/" + name
}

// idText is a key as it stands in a path of ids, "" for none.
func idText(id any) string {
	if id == nil {
		return ""
	}
	return fmt.Sprint(id)
}

// inPlace reports whether a row's paths are those that follow from where it is, and if one is not,
// what it should be.
func (t *table) inPlace(n, above *node) (actual string, ok bool) {
	want := *n
	t.follow(&want, above)
	if n.path != want.path {
		return want.path, false
	}
	return want.ids, n.ids == want.ids
}

// stated compares the paths that a caller states, "" where none is, with those that a row has or
// will have. It returns an error if a stated one is none of them.
func (t *table) stated(id any, path, ids string, nodes ...*node) error {
	known := func(stated string, of func(*node) string) error {
		if stated == "" {
			return nil
		}
		for _, n := range nodes {
			if of(n) == stated {
				return nil
			}
		}
		return &fault.PathChangedError{Table: t.name, ID: id, Planned: stated, Actual: of(nodes[len(nodes)-1])}
	}
	if err := known(path, func(n *node) string { return n.path }); err != nil {
		return err
	}
	return known(ids, func(n *node) string { return n.ids })
}

// hasIDs reports whether the table has a path of ids, alone or beside one of names.
func (t *table) hasIDs() bool { return t.byIDs || t.ids != nil }

// checkID refuses a key that cannot be a part of a path.
func (t *table) checkID(id any) error {
	if id == nil || !t.hasIDs() {
		return nil
	}
	if _, err := pathlock.Root().Child(idText(id)); err != nil {
		return fmt.Errorf("%s: the key %q in a path of ids: %w", t.name, idText(id), err)
	}
	return nil
}

// lacksID reports whether a path of ids still waits for the row's own: "/17/".
func lacksID(path string) bool { return strings.HasSuffix(path, "/") }

// longestID is how many characters a key that the database gives may need.
const longestID = 20

// pathsIn returns a row's paths by their columns.
func (t *table) pathsIn(n *node) iter.Seq2[*schema.Field, string] {
	return func(yield func(*schema.Field, string) bool) {
		if yield(t.path, n.path) && t.ids != nil {
			yield(t.ids, n.ids)
		}
	}
}

// setPaths writes a row's paths into the record; one that lacks its id is left empty, see
// [Plugin.fillIDs].
func (t *table) setPaths(r record, n *node) error {
	for f, path := range t.pathsIn(n) {
		if lacksID(path) {
			path = ""
		}
		if err := r.set(f, path); err != nil {
			return err
		}
	}
	return nil
}

// fillIDs completes the paths of ids of rows that have just been inserted and were given their keys
// by the database. A failure here would leave rows without a path in the table: it ends the
// transaction.
func (p *inserting) fillIDs(db *gorm.DB, tx *txn.Transaction, st *statement) error {
	if err := p.settleTop(db, tx, st.table, &p.tops); err != nil {
		return err
	}
	if len(p.nameless) == 0 {
		return nil
	}
	err := p.writeIDs(db, st.table, p.nameless)
	if err != nil {
		err = fmt.Errorf("gormplugin: writing the paths of ids: %w", err)
		if p.Dialect.Classify(err) != dialect.FailureOther {
			err = fault.Retry(err)
		}
		tx.Abandon(err)
	}
	return err
}

// writeIDs gives new rows their paths of ids, in one statement.
func (p *planner) writeIDs(db *gorm.DB, t *table, rows []*arrival) error {
	f := t.ids
	if t.byIDs {
		f = t.path
	}
	for chunk := range slices.Chunk(rows, maxPlaceholders/3) {
		a := new(assignment)
		ids, paths := make([]any, len(chunk)), make([]any, len(chunk))
		for i, row := range chunk {
			id, err := row.get(t.key)
			if err != nil {
				return err
			}
			if err := t.checkID(id); err != nil {
				return err
			}
			path := row.path
			if !t.byIDs {
				path = row.ids
			}
			ids[i], paths[i] = id, path+idText(id)
			if err := row.set(f, paths[i]); err != nil {
				return err
			}
		}
		a.replace(t, f, ids, paths, false)
		if err := t.updateDirect(db, f, a.set[0].Value, t.keyIn(column(t.key), ids)); err != nil {
			return err
		}
	}
	return nil
}
