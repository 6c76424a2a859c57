package plan

import (
	"database/sql/driver"
	"fmt"
)

// Node is a row of a guarded table, or one that is about to be.
type Node struct {
	// ID, Parent and Tree are column values in plain form: they can be compared and used as map
	// keys. Parent is nil at the top, where the column is NULL or a zero value.
	ID, Parent, Tree any
	Name             string
	// Path is the path column. A leaf's follows from its parent's, whether it has a column or not.
	Path string
	// IDs is the path of ids beside a path of names.
	IDs     string
	Version int64
	Fence   any
	// Hit is set where a survey's statement means the row.
	Hit bool
	// Dead is set for a row that is marked as deleted.
	Dead bool
}

// IsRoot reports whether a row is the root row of its tree.
func (n *Node) IsRoot() bool { return n.Parent == nil && n.Name == "" }

// Bytes is a byte string that can be compared: a binary key, which a database would not find by a
// text.
type Bytes string

// Value implements [driver.Valuer].
func (b Bytes) Value() (driver.Value, error) { return []byte(b), nil }

// IDText is a key as it stands in a path of ids, "" for none.
func IDText(id any) string {
	if id == nil {
		return ""
	}
	return fmt.Sprint(id)
}
