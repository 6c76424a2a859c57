// Package plan says what a write does to the tree: nodes in; places, path locks and refusals out.
//
// [Shape.Insert], [Shape.Update] and [Shape.Copy] each get the rows that a statement means and the
// rows above them, as somebody has read them; a DELETE is an UPDATE after which rows have no place.
// They know neither GORM nor SQL, and read nothing. So the same functions plan a write twice: on
// plain reads, which say what to lock, and again under these locks; both plans must agree
// ([Effect.Differs]). [Chains] are the rows that must not move meanwhile.
package plan

import (
	"fmt"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Shape is what plans have to know of a table.
type Shape struct {
	TableName string
	Namespace string
	// Above is the shape of the table that the parents are in: the table itself, or a leaf's other
	// one. IsLeaf is set for the latter.
	Above  *Shape
	IsLeaf bool
	// Sole is the only tree of a table without a tree column, nil for others.
	Sole any
	// ByIDs is set if Path is the path of ids, and BothPaths if one stands beside a path of
	// names.
	ByIDs, BothPaths bool
	// PathForm and IDsForm are how the columns spell Path and IDs, which are always "/a/b" here.
	PathForm, IDsForm treetable.Form
	// Nameless is set if rows have no names: their ids stand in their place.
	Nameless bool
	// MaxDepth is how many names the path of a row has at most.
	MaxDepth int
	// NameRoom, PathRoom and IDsRoom are what the columns can hold.
	NameRoom, PathRoom, IDsRoom Room
}

// HasIDs reports whether the table has a path of ids, alone or beside one of names.
func (s *Shape) HasIDs() bool { return s.ByIDs || s.BothPaths }

// TreeOf returns the lock domain of a tree column's value.
func (s *Shape) TreeOf(value any) (pathlock.Tree, error) {
	if value == nil {
		return pathlock.Tree{}, fmt.Errorf("%w: %w: the column of the tree is empty", pathlock.ErrInvalidTree, shown.Inside(s.TableName))
	}
	if binary, ok := value.(Bytes); ok {
		return pathlock.NewTree(s.Above.Namespace, fmt.Sprintf("%x", string(binary)))
	}
	return pathlock.NewTree(s.Above.Namespace, fmt.Sprint(value))
}

// RowName names a row in messages.
func (s *Shape) RowName(id any) string { return s.TableName + " " + shown.ID(id) }

// Unsupported is the error of a refused write. The message says why, and what to use instead.
func (s *Shape) Unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %w: %s", fault.ErrUnsupported, shown.Inside(s.TableName), fmt.Sprintf(format, args...))
}

// Unfit is the error of a value that a column cannot have: a map may hold what a client has sent.
func (s *Shape) Unfit(format string, args ...any) error {
	return fault.Unfit(s.Unsupported(format, args...))
}

// Misplaced is the error of a row that cannot have the place that was asked for, said for clients:
// which rows and trees are concerned is for the log.
func (s *Shape) Misplaced(why string, concerned ...string) error {
	err := error(&fault.MisplacedError{Table: s.TableName, Why: why})
	for _, said := range concerned {
		err = fmt.Errorf("%w: %w", err, shown.Inside(said))
	}
	return err
}

// Damaged is the error of a row with an impossible tree, name or path in the database.
func (s *Shape) Damaged(id any, err error) error {
	return &fault.DamagedRowError{Table: s.TableName, ID: id, Err: err}
}

// Missing is the error for an id that no live row has.
func (s *Shape) Missing(id any) error {
	return NotFound("%s", s.RowName(id))
}

// NotFound is the error for a missing row, worded for the log: clients know what they asked for.
func NotFound(format string, args ...any) error {
	return fmt.Errorf("%w: %w", pathlock.ErrNotFound, shown.Inside(fmt.Sprintf(format, args...)))
}

// parentGone is the error of a row whose parent is not there, or deleted.
func (s *Shape) parentGone(parent any, n *Node) error {
	if s.IsLeaf && parent == n.Parent {
		return NotFound("%s, the parent of %s, is deleted: the leaf can be edited and deleted, and moved or renamed once its parent is restored",
			s.Above.RowName(parent), s.RowName(n.ID))
	}
	return NotFound("%s, the parent of %s", s.Above.RowName(parent), s.RowName(n.ID))
}

// Room is how many characters a column can hold; 0 if the model does not say.
type Room struct {
	Column string
	Size   int
}

// Fits refuses a value that needs more characters than the column has: outside strict mode, MySQL
// would silently truncate it.
func (r Room) Fits(length int, what string) error {
	if r.Size > 0 && length > r.Size {
		const most = 80
		return fmt.Errorf("%w: %q has room for %d characters, %.*q… needs %d", fault.ErrPathTooLong, r.Column, r.Size, most, what, length)
	}
	return nil
}

// longestID is how many characters a key that the database gives may need.
const longestID = 20

// checkPaths refuses a path that its column cannot hold. unknown is how many characters an id may
// need that the path lacks.
func (s *Shape) checkPaths(n *Node, unknown int) error {
	for _, of := range s.paths(n) {
		stored := of.form.Column(of.path)
		length := utf8.RuneCountInString(stored)
		if treetable.LacksID(of.path) && !of.form.OfParent {
			length += unknown
		}
		if err := of.room.Fits(length, stored); err != nil {
			return err
		}
	}
	return nil
}

// storedPath is a path, and the column that holds it.
type storedPath struct {
	room Room
	form treetable.Form
	path string
}

// paths returns a row's path and, if there is one, the path of ids beside it.
func (s *Shape) paths(n *Node) []storedPath {
	if !s.BothPaths {
		return []storedPath{{s.PathRoom, s.PathForm, n.Path}}
	}
	return []storedPath{{s.PathRoom, s.PathForm, n.Path}, {s.IDsRoom, s.IDsForm, n.IDs}}
}
