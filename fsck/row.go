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
	// above is the key of the parent, if the database has a sound one. Otherwise fault says why
	// not.
	above Key
	fault fault
	name  string
	// nullName is set if the name is NULL.
	nullName bool
	// path and idPath are read for the rows that are being checked, not for the rows above them.
	path, idPath sql.NullString
}

// isTop reports whether the row is at the top: its parent column says that it has no parent.
func (r *row) isTop() bool { return r.parent.none() }

// isRoot reports whether the row is the root row of its tree.
func (r *row) isRoot() bool { return r.isTop() && r.name == "" && !r.nullName }

// hasTree reports whether the row is in a tree.
func (r *row) hasTree() bool { return r.tree.String() != "" }

// nameValue is the row's name as a driver returns it.
func (r *row) nameValue() any {
	if r.nullName {
		return nil
	}
	return r.name
}

// checkName returns an error if no path can have the row's name.
func (r *row) checkName() error {
	_, err := treerow.Name(r.nameValue())
	return err
}

// problem returns a problem of the row, without Others and Want.
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
