package fsck

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// seat is where a row is in its tree. A repair changes it only if the database still has it as it
// was read.
type seat struct {
	tree, parent Key
	name         string
	// nullName is set if the name is NULL.
	nullName bool
}

// isTop reports whether the row is at the top: its parent column says that it has no parent.
func (s *seat) isTop() bool { return s.parent.none() }

// isRoot reports whether the row is the root row of its tree.
func (s *seat) isRoot() bool { return s.isTop() && s.name == "" && !s.nullName }

// nameValue is the row's name as a driver returns it.
func (s *seat) nameValue() any {
	if s.nullName {
		return nil
	}
	return s.name
}

// errNoName is what is wrong with a name that is NULL.
var errNoName = errors.New("name is not text")

// checkName returns an error if no path can contain the name of a row.
func (c *catalogue) checkName(s *seat) error {
	if s.nullName {
		return errNoName
	}
	_, err := pathlock.Root().Child(s.name)
	if err == nil && c.table.Path != "" {
		err = c.pathForm.Check(s.name)
	}
	return err
}

// checkKey returns an error if no path of ids of the table can have a row's key.
func (c *catalogue) checkKey(key Key) error {
	if c.table.IDPath == "" {
		return nil
	}
	if _, err := pathlock.Root().Child(key.String()); err != nil {
		return err
	}
	return c.idForm.Check(key.String())
}

// row is a row of the table, or a leaf.
type row struct {
	key Key
	// leaf is the table that a leaf is in, nil for the others.
	leaf *catalogue
	seat
	held
	// up is the row that the parent column names, nil if there is none or it is deleted. If fault
	// is set, it is not a sound parent.
	up    *row
	fault fault
	place
	// order is the row's position in the order of keys.
	order int32
}

// above is the row's sound parent, or nil.
func (r *row) above() *row {
	if r.fault != faultNone || r.isTop() {
		return nil
	}
	return r.up
}

// rowID identifies a row. leaves is the table of a leaf, "" for any other row.
type rowID struct {
	leaves string
	key    Key
}

// id returns the row's id.
func (r *row) id() rowID {
	if r.leaf == nil {
		return rowID{key: r.key}
	}
	return rowID{r.leaf.table.Table, r.key}
}

// of returns the catalogue of the table that a row is in.
func (c *catalogue) of(r *row) *catalogue {
	if r.leaf != nil {
		return r.leaf
	}
	return c
}

// problem returns a problem of the row, with the keys of others, without Want.
func (r *row) problem(kind Kind, others []Key, format string, args ...any) *Problem {
	return &Problem{Kind: kind, Leaves: r.id().leaves, Tree: r.tree, ID: r.key, Others: others, Name: r.name, Is: r.path, Detail: fmt.Sprintf(format, args...)}
}

// fault says what is wrong with a row's parent.
type fault uint8

const (
	faultNone fault = iota
	faultMissing
	faultDeleted
	faultForeign // in another tree
)
