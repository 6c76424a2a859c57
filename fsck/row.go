package fsck

import (
	"database/sql"
	"fmt"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// row is a live row of the table.
type row struct {
	key, tree, parent Key
	// above is the key of the row that the database finds for parent; none where fault says why
	// not.
	above Key
	fault fault
	name  string
	// nameless is set where the name is NULL.
	nameless bool
	// path and idPath are only read of rows that are being checked, not of those above them.
	path, idPath sql.NullString
}

// isTop reports whether the row has no parent and wants none.
func (r *row) isTop() bool { return r.parent.none() }

// isRoot reports whether the row is the root row of its tree.
func (r *row) isRoot() bool { return r.isTop() && r.name == "" && !r.nameless }

// hasTree reports whether the row says which tree it is in.
func (r *row) hasTree() bool { return r.tree.String() != "" }

// nameValue is the row's name as a driver returns it.
func (r *row) nameValue() any {
	if r.nameless {
		return nil
	}
	return r.name
}

// checkName says why no path can have the row's name.
func (r *row) checkName() error {
	_, err := treerow.Name(r.nameValue())
	return err
}

// problem begins a report on a row.
func (r *row) problem(kind Kind, format string, args ...any) *Problem {
	p := &Problem{Kind: kind, Tree: r.tree, ID: r.key, Name: r.name, Detail: fmt.Sprintf(format, args...)}
	if !utf8.ValidString(r.name) {
		p.NameBytes = []byte(r.name)
	}
	if r.path.Valid {
		p.Is = &r.path.String
	}
	return p
}

// fault says what is wrong with a row's parent.
type fault uint8

const (
	faultNone fault = iota
	faultMissing
	faultDeleted
	faultForeign // in another tree
)
