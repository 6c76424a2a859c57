// Package gormplugin keeps trees with materialised paths right in the tables of a
// [gorm.DB], whoever writes them and however many write at once.
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
//   - take the path locks that they need from the locker, and hold them until the transaction has
//     really ended. They take none where the context holds the locks already, because the
//     middleware took them;
//   - assert, under row locks of the database and in the same transaction, that every path that the
//     work was planned on is still the path.
//
// The plugin leaves other tables alone.
//
// A handler behind package middleware passes its request's context, and the plugin finds the
// request's locks there. A statement without that context waits for the locks of its own request,
// in vain, and fails with [ErrNoRequestContext].
//
// # What is guaranteed
//
// At every commit, for every live row: path = parent's path + "/" + name, no orphan, no cycle. This
// rests on the assertion, not on the lock store, and holds whatever the store does. The locks give
// order: with them, the assertion hardly ever fails and the database hardly ever sees a deadlock.
//
// The schema has to help: a unique index keeps siblings' names distinct, and all writes have to
// reach one server ([OneWriter]). [AutoMigrate] makes such tables. [Verify] says what others lack.
//
// A tree has either one root row, without a parent, name and path, and no other row at the top, or
// any number of rows at the top and no root row. Anything else is refused with [ErrRootRow]. Softly
// deleted rows are not part of the tree: they collide with nothing and are not rewritten. Unscoped
// updates may change them freely. An update that clears the deletion mark gives the row a place
// again, as an insert would, and one that sets it deletes the row with all that is below it.
//
// # Transactions
//
// A statement outside of a transaction first takes its path locks and then begins its transaction.
// Inside a transaction, [TransactionWait] bounds the wait for path locks, and all statements share
// one owner, so that they never block each other. If a lock is not granted, nothing of the
// statement is written, and the error is package pathlock's. If the database gives the transaction
// up, the error is [ErrRetry]; [Transaction] tries again by itself.
//
// After a panic in a hook of a statement outside of a transaction, GORM itself does not end the
// transaction. The plugin rolls it back and releases its locks when the statement's context ends or
// the garbage collector finds it.
//
// # Locks
//
// A new row locks its name slot, X(parent/name). A rename or a move locks the row and its new slot,
// a deletion the row. A statement that needs more than 128 of them in one tree, or 200 with the
// nodes above them, locks the deepest node above them all instead. Updates of other columns lock
// nothing, and neither does a Save that leaves the row where it is.
//
// # Forms of write
//
// An upsert (OnConflict, Save of a slice) goes by the primary key. Rows that are not in the table
// are plainly inserted: a name that is taken is [ErrNameTaken], with DoNothing too, and the row
// that has it stays as it is. Rows that are in the table are updated, unless DoNothing leaves them
// alone. One whose statement writes another parent or name moves or is renamed, as by Updates: an
// outdated path beside another parent is [pathlock.ErrPathChanged].
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
// the children move to the top, in a tree without a root row. A model is guarded in the table that
// it was registered with: Table("archive") on it is another table, and left alone.
//
// # What it does not see
//
// Raw SQL by [gorm.DB.Exec] and [gorm.DB.Raw] that names a guarded table is refused with a
// [*RawWriteError], unless it plainly reads or defines, and raw SQL that ends a transaction with a
// [*TransactionEndError]. The plugin does not see:
//
//   - calls of functions, procedures, triggers and views, also by a SELECT, and prepared statements
//     that are run by their name;
//   - SQL that the database assembles itself;
//   - SQL in the text of a clause or an expression (gorm.Expr, Where, Order);
//   - what is sent to a statement's ConnPool without GORM;
//   - connections that the plugin did not hand out, such as those of [gorm.DB.DB].
//
// A write by [gorm.DB.Connection], by a session made before [gorm.DB.Use] or by a bare *sql.Tx is
// refused with [ErrUnmanagedTransaction].
//
// docs/gorm.md in the repository has the schema, the databases, every form of write and raw SQL.
//
// # How it is built
//
// This package is the face: options, operations, queries and the schema. The work is done in
// packages of internal/, in floors. Each floor imports only floors beneath it; the linter checks
// that:
//
//	gormplugin         the face; Plugin.register puts the frame into GORM's callbacks
//	  write            what happens on each write: plan, path locks, assertion, rewrite; raw SQL that
//	                   is refused
//	  table     plan   the models, their rows and where they are; what a write does to the tree
//	  txn              transactions, when they have really ended, and their retry
//	  fault     rawsql the errors; SQL texts
//
// What each database says and needs is the repository's internal/dialect. [Verify] is its
// internal/treeschema, which knows neither GORM nor models.
//
// The documentation of internal/write follows an UPDATE from the survey to the release of the
// locks.
package gormplugin
