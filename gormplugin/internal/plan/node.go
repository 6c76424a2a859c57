package plan

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
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

// Effect is what an UPDATE or a DELETE does to the tree.
type Effect struct {
	shape *Shape
	// Change is what was asked for, and Hits are the rows that it was planned on.
	Change *Change
	Hits
	// Parents are the rows above those that are hit, before the change and after it, with what was
	// read of the rows above these.
	Parents map[any]*Node
	// Claims are the old places and the new slots.
	Claims
	// Chains are the nodes that must stay where they are, with everything above them.
	Chains []*Node
	// places has, by id, the route of each row that gets or loses a place by the plan.
	places map[any]route
	// Moves are the rows that get other places, and TopArrivals those that come to the top of their
	// trees.
	Moves []Move
	TopArrivals
	// Tops are the live rows that a deletion hits, without those that lie below others of them.
	Tops []*Node
}

// route is where a row is and where it will be; zero where it has no place.
type route struct{ from, to pathlock.Location }

// StaysPut reports whether the tree is the same afterwards as before, and no row of it is deleted
// or restored.
func (x *Effect) StaysPut() bool { return len(x.Moves)+len(x.Dead) == 0 && !x.Change.Deletes }

// After returns the rows that move as the change leaves them, and if stayed is set, those that stay
// where they are.
func (x *Effect) After(stayed bool) map[any]*Node {
	now := make(map[any]*Node, len(x.Moves))
	if stayed {
		maps.Copy(now, x.Live)
	}
	for _, m := range x.Moves {
		now[m.ID] = m.After
	}
	return now
}

// HasVersion reports whether all live rows have the version.
func (x *Effect) HasVersion(version any) bool {
	for _, n := range x.Live {
		if version != n.Version {
			return false
		}
	}
	return true
}

// StatesOutdated reports whether the change states a path that a row does not have.
func (x *Effect) StatesOutdated() bool {
	for _, n := range x.Live {
		if !x.shape.AsStated(n, x.Change.Path, x.Change.IDs) {
			return true
		}
	}
	return false
}

// Differs compares a plan with the one that the locking reads led to. The locks are right only if
// every place is the same, and every node above was locked.
func (x *Effect) Differs(actual *Effect, locked map[any]*Node) error {
	for id, at := range actual.places {
		if before, planned := x.places[id]; !planned || before != at {
			return &fault.PathChangedError{Table: x.shape.TableName, ID: id, Planned: before.from.Path.Column(), Actual: at.from.Path.Column()}
		}
	}
	for _, n := range actual.Chains {
		if locked[n.ID] == nil {
			return &fault.PathChangedError{Table: x.shape.Above.TableName, ID: n.ID, Actual: n.Path}
		}
	}
	return nil
}
