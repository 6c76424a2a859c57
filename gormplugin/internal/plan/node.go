package plan

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
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
	// Hit is set if a survey read the row because the statement hits it.
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

// IDText returns a key as a path of ids contains it, "" for none.
func IDText(id any) string {
	if id == nil {
		return ""
	}
	return fmt.Sprint(id)
}

// Hits are the rows that an UPDATE or DELETE hits, by id: the live ones, which are part of the
// tree, and the softly deleted ones.
type Hits struct {
	Live, Dead map[any]*Node
	// Recalled is set where the rows were read earlier in the request, and may be outdated.
	Recalled bool
}

// NewHits returns hits without any row.
func NewHits() Hits { return Hits{Live: make(map[any]*Node), Dead: make(map[any]*Node)} }

// Add adds rows to the live ones, or to the dead ones.
func (h Hits) Add(rows []*Node) {
	for _, n := range rows {
		if n.Dead {
			h.Dead[n.ID] = n
		} else {
			h.Live[n.ID] = n
		}
	}
}

// IDs returns the ids of all rows.
func (h Hits) IDs() []any {
	return append(slices.Collect(maps.Keys(h.Live)), slices.Collect(maps.Keys(h.Dead))...)
}
