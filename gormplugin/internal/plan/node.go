package plan

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

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
	// Recalled is set if the rows were read earlier in the request, and may be outdated.
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

// Move is a row that gets another path, and its subtree with it.
type Move struct {
	*Node
	// After is the row as the change leaves it.
	After *Node
	To    pathlock.Location
	// Restored is set for a row that was deleted before: it had no place.
	Restored bool
	// SamePaths is set for a detour, after which the rows below have the paths that they had
	// before, and so keep their versions.
	SamePaths bool
}

// Rewrites reports whether the rows below get new paths.
func (m Move) Rewrites() bool { return !m.Restored && (m.Path != m.After.Path || m.IDs != m.After.IDs) }

// Deeper returns by how many levels a row moves down.
func (m Move) Deeper() int { return strings.Count(m.After.Path, "/") - strings.Count(m.Path, "/") }

// Longer returns by how many characters the path, and that of ids, grow.
func (m Move) Longer() [2]int {
	longer := func(from, to string) int { return utf8.RuneCountInString(to) - utf8.RuneCountInString(from) }
	return [2]int{longer(m.Path, m.After.Path), longer(m.IDs, m.After.IDs)}
}

// CheckBelow refuses a move by which a row below would get a path that is longer than its column,
// or lie too deep.
func (s *Shape) CheckBelow(m Move, n *Node) error {
	tops := s.paths(m.After)
	for i, of := range s.paths(n) {
		if longer := m.Longer()[i]; longer > 0 {
			if err := of.room.Fits(utf8.RuneCountInString(of.form.Column(of.path))+longer, of.form.Print(tops[i].path)); err != nil {
				return err
			}
		}
	}
	if depth := strings.Count(n.Path, "/") + m.Deeper(); m.Deeper() > 0 && depth > s.MaxDepth {
		return &fault.TooDeepError{Table: s.TableName, Path: m.After.Path, Depth: depth, Limit: s.MaxDepth}
	}
	return nil
}
