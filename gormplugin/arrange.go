package gormplugin

import (
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"gorm.io/gorm"
)

// RowError says which row [Arrange] could not arrange. It matches what Err matches.
//
// Table and ID name the row.
type RowError = fault.RowError

// Arrange gives many rows of one tree new parents at once. A page in which somebody sorts a tree by
// hand sends such a list:
//
//	err := gormplugin.Arrange(db, []Suite{{ID: 7, ParentID: &api, Position: 1}, {ID: 8, Position: 2}}, "position")
//
// rows is a slice of structs of a registered model, or of pointers to them. Arrange reads each
// struct's key, its parent (zero is the top), and the named columns, which it writes as they are. A
// tree that a struct states has to be the row's. Names, versions and paths are not read. The order
// of the rows does not matter. Other rows of the tree stay below their parents, and move with them.
// Rows can change places: a row can end up below one that was below it, and two rows with one name
// can exchange their parents.
//
// The locks are X on the old and the new place of every given row that moves; in a spec of a route,
// lockspec.Gate takes the whole tree, and lockspec.Slot one subtree. The database locks all given
// rows. A statement writes up to 500 rows. One rewrites up to a hundred subtrees, or two do if rows
// move to places that others leave. The hooks of an update run once, on an empty row of the model,
// and the update time of all given rows is set. The structs get the key, tree, name, paths and
// version of their rows.
//
// Arrange takes part in a transaction of the caller's. Otherwise it begins its own, and retries it
// if the database aborts it.
//
// It writes everything or nothing. If one row is to blame, the error is a [*RowError], and matches
// one of the following. Other errors are those of every write. If the database refuses rows that
// have changed places, that ends the transaction.
//
//   - [pathlock.ErrNotFound] if the row or its parent is not there, or has been deleted;
//   - [ErrWouldCycle] if the row would be below itself;
//   - [ErrNameTaken] if two rows with one name would have one parent;
//   - [ErrMisplaced] if the row or its parent is in another tree, if the row is given twice, for
//     the root row of a tree, and for the top if the row is a leaf;
//   - [ErrPathTooLong] if the path of the row would not fit. If that of a row below would not, the
//     error is no RowError.
//   - [pathlock.ErrInvalidID] if a struct has no key.
//
// The error matches [ErrUnsupported] for more than 10,000 rows, a column that says where a row is,
// or a hook that sets the name. Rows cannot exchange values of a unique index, such as positions
// below one parent: the error is the database's.
func Arrange(db *gorm.DB, rows any, columns ...string) error {
	list := reflect.Indirect(reflect.ValueOf(rows))
	if list.Kind() != reflect.Slice {
		return fmt.Errorf("%w: Arrange needs a slice of a registered model, not a %T", gorm.ErrInvalidValue, rows)
	}
	p, t, err := subject(db, reflect.New(list.Type().Elem()).Interface())
	if err != nil {
		return err
	}
	arranged, err := write.NewArrangement(db, t, list, columns)
	if err != nil || len(arranged.Parents) == 0 {
		return err
	}
	return p.operate(db, func(db *gorm.DB) error {
		e := &write.Operation{Arranged: arranged, Into: list}
		return e.Statement(db, t).Updates(arranged.Assigned()).Error
	})
}
