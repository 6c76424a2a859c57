// Package gormplugin keeps trees with materialised paths correct in the tables of a [gorm.DB],
// whoever writes to them and however many write at once.
//
//	type Suite struct {
//		ID       int64
//		PlanID   int64  `pathlock:"tree"`
//		ParentID *int64 `pathlock:"parent"`
//		Name     string `pathlock:"name"`
//		Path     string `pathlock:"path"`
//	}
//
//	plugin := gormplugin.New(locker, gormplugin.Model(&Suite{}), gormplugin.Leaf(&Case{}, &Suite{}))
//	err := db.Use(plugin)
//
// From then on, Create, Save, Update, Updates, UpdateColumn and Delete on the registered tables
//
//   - write the path of a new row, and rewrite those of a moved or renamed row and all its
//     descendants in one statement;
//   - delete the descendants of a deleted row in the same table, in the same way: softly or for
//     good. Leaves are rows of other tables, and deleting those is up to the caller. Leaves of a
//     deleted row can be edited, but neither moved nor renamed;
//   - take the path locks that they need, and hold them until the transaction has really ended. If
//     the middleware has already taken the locks, they find these in the context and take none;
//   - assert, under row locks of the database and in the same transaction, that every path on which
//     the write was planned is still the path.
//
// The plugin leaves other tables alone.
//
// A handler behind package middleware passes its request's context, and the plugin finds the
// request's locks there. Without that context, a statement waits for the locks of its own request,
// and fails with [ErrNoRequestContext].
//
// # What is guaranteed
//
// At every commit, for every live row: path = parent's path + "/" + name, no orphan, no cycle. The
// assertion guarantees this, not the lock store, so it holds whatever the store does. The locks
// give order: with them, the assertion rarely fails and the database rarely sees a deadlock.
//
// The guarantee needs help: a unique index must keep siblings' names distinct, and all writes must
// reach one server ([OneWriter]). [AutoMigrate] creates such tables. [Verify] says what other
// tables lack.
//
// A tree has either one root row, without a parent, name and path, and no other row at the top, or
// any number of rows at the top and no root row. Anything else is refused with [ErrRootRow]. Softly
// deleted rows are not part of the tree: they collide with nothing and are not rewritten. Unscoped
// updates may change them freely. An update that clears the deletion mark restores the row, as an
// insert would. An update that sets the mark deletes the row and everything below it.
//
// # Transactions
//
// A statement outside of a transaction first takes its path locks and then begins its transaction.
// Inside a transaction, [TransactionWait] bounds the wait for path locks, and all statements share
// one owner, so that they never block each other. If a lock is not granted, the statement writes
// nothing and returns package pathlock's error. If the database aborts the transaction, the error
// is [ErrRetry]; [Transaction] tries again by itself.
//
// If a hook panics in a statement outside of a transaction, GORM does not end the statement's own
// transaction. The plugin rolls it back and releases its locks when the statement's context ends or
// the garbage collector finds it.
//
// # Locks
//
// A new row locks its name slot, X(parent/name). A rename or a move locks the row and its new slot,
// a deletion the row. A statement that needs more than 128 of these locks in one tree, or 200
// including the nodes above, locks the deepest common node above them instead. Updates of other
// columns lock nothing, and neither does a Save that leaves the row where it is.
//
// # Forms of write
//
// An upsert (OnConflict, Save of a slice) matches rows by primary key. It inserts rows that are not
// in the table: if the name is taken, the error is [ErrNameTaken], even with DoNothing, and the
// other row stays as it is. It updates rows that are in the table, unless DoNothing leaves them
// alone. A row whose statement writes another parent or name moves or is renamed, as by Updates: an
// outdated path with another parent is [pathlock.ErrPathChanged].
//
// [ErrUnsupported] refuses:
//
//   - an upsert by another key, of a softly deleted row (which is [ErrStale], too), or with a mark
//     of deletion,
//   - an upsert that may write only part of a new place: with Select, Omit or a condition, or a map
//     without parent and name,
//   - joins, aliases and clauses that name another table,
//   - INSERT IGNORE,
//   - expressions and fractions as name or parent,
//   - Association(…).Replace outside of a transaction, which GORM does by two statements,
//   - a change of a primary key,
//   - rows created as deleted ones.
//
// Association(…).Clear, Delete and Replace on the children set the parent to NULL, as GORM does:
// the children move to the top, in a tree without a root row. A model is guarded only in the table
// that it was registered with: with Table("archive"), the plugin leaves it alone. A model that is
// not registered is refused in its own table if a field has the tag of a parent, other than a field
// of an embedded struct.
//
// # What it does not see
//
// The plugin refuses raw SQL by [gorm.DB.Exec] and [gorm.DB.Raw] that names a guarded table with a
// [*RawWriteError], unless it plainly reads or defines. It refuses raw SQL that ends a transaction
// with a [*TransactionEndError]. It does not see:
//
//   - calls of functions, procedures, triggers and views, also by a SELECT, and prepared statements
//     that are run by their name;
//   - SQL that the database assembles itself;
//   - SQL in the text of a clause or an expression (gorm.Expr, Where, Order);
//   - statements sent to a ConnPool without GORM;
//   - connections that the plugin did not hand out, such as those of [gorm.DB.DB].
//
// A write by [gorm.DB.Connection], by a session made before [gorm.DB.Use] or by a bare *sql.Tx is
// refused with [ErrUnmanagedTransaction].
//
// docs/gorm.md in the repository has the schema, the databases, every form of write and raw SQL.
//
// # How it is built
//
// This package is the public API: options, operations, queries and the schema. The work is done in
// packages of internal/, in layers. Each imports only layers below it, which test/arrows checks:
//
//	gormplugin         the API; its plugin puts the engine of write into GORM's callbacks
//	  write            what happens on each write: plan, path locks, assertion, rewrite; raw SQL that
//	                   is refused
//	  table     plan   the models, their rows and where they are; what a write does to the tree
//	  txn              transactions, when they have really ended, and their retry
//	  fault     rawsql the errors; SQL texts
//
// The repository's internal/dialect says how each database differs. [Verify] is its
// internal/treeschema, which knows neither GORM nor models.
//
// The documentation of internal/write follows an UPDATE from the survey to the release of the
// locks.
package gormplugin
