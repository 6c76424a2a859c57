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
// A handler behind package middleware passes its request's context,
// db.WithContext(c.Request.Context()), or gin's own, db.WithContext(c). The plugin finds the
// request's locks there, and the work ends when they are lost. A statement without that context
// would wait for the locks of its own request; it fails with [ErrNoRequestContext] instead.
//
// A leaf has no path column. Its model may have a field that is no column either, `pathlock:"path"
// gorm:"-"`: every write that places the leaf puts the leaf's path there. See [Leaf].
//
// # What is guaranteed
//
// At every commit, for every live row: path = parent's path + "/" + name, no orphan, no cycle. This
// rests on the assertion, not on the lock store, and holds whatever the store does. The locks give
// order: with them, the assertion hardly ever fails and the database hardly ever sees a deadlock.
//
// The schema has to help:
//
//   - A unique index over tree, parent and name keeps siblings' names distinct. Where rows are
//     deleted softly, it includes the deletion mark.
//   - An index over tree and path keeps a rename from locking the whole table.
//   - All writes have to reach one server, since row locks say nothing to another one of a cluster:
//     see [OneWriter].
//
// [AutoMigrate] makes such tables. [Verify] says what others lack, and which statements mend it.
//
// A tree has either one root row, without a parent, name and path, and no other row at the top, or
// any number of rows at the top and no root row. A write that would mix the two is refused with
// [ErrRootRow]. A zero value in the parent column (0, "", a nil UUID) says that there is no parent,
// as NULL does. The plugin writes NULL or, where the field cannot hold it, the zero value.
//
// Softly deleted rows are not part of the tree: they collide with nothing and are not rewritten.
// Unscoped updates may change them freely. An update that clears the deletion mark gives the row a
// place again, as an insert would.
//
// # Transactions
//
// A statement outside of a transaction first takes its path locks and then begins its transaction.
// Inside a transaction, [TransactionWait] bounds the wait for path locks, and all statements share
// one owner, so that they never block each other. If a lock is not granted, nothing of the
// statement is written, and the error is package pathlock's. If the database gives the transaction
// up, the error is [ErrRetry]; [Transaction] tries again by itself. After an error that has ended
// the transaction on the server (a deadlock, or a lock wait under MySQL's
// innodb_rollback_on_timeout), nothing more runs in it.
//
// After a panic in a hook of a statement outside of a transaction, GORM itself does not end the
// transaction. The plugin rolls it back and releases its locks when the statement's context ends or
// the garbage collector finds it.
//
// Raw SQL by Exec and Raw cannot end a transaction behind the plugin's back. Once a guarded table
// was written or asserted in the transaction, COMMIT and ROLLBACK are refused with a
// [*TransactionEndError]. So is everything that commits implicitly on MySQL and MariaDB: most
// definitions, TRUNCATE, LOCK TABLES, START TRANSACTION, SET autocommit. If such a statement came
// first, as with [gorm.DB.AutoMigrate] within db.Transaction, the later write is refused, because
// it would be committed by itself. Run migrations outside of transactions there. Savepoints are
// refused likewise unless they have GORM's own form.
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
// An upsert (OnConflict, Save of a slice) of new rows is a plain insert: if the name is taken, the
// error is [ErrNameTaken], with DoNothing too, and the other row is never updated. Existing rows
// stay where they are and get the other columns; DoNothing leaves them alone.
//
// [ErrUnsupported] refuses:
//
//   - an upsert that would move, rename, delete or restore a row, or that mixes new and existing
//     rows,
//   - joins, aliases and clauses that name another table,
//   - INSERT IGNORE,
//   - expressions as name or parent,
//   - a change of a primary key,
//   - rows created as deleted ones.
//
// Association(…).Clear, Delete and Replace on the children set the parent to NULL, as GORM does:
// the children move to the top, in a tree without a root row. Saving a row saves the children that
// it was loaded with. Children that were renamed meanwhile keep their names; one that was moved
// away is refused with [pathlock.ErrPathChanged]. A model is guarded in the table that it was
// registered with: Table("archive") on it is another table, and left alone.
//
// # Other plugins
//
// The callbacks of other plugins run before the assertion, whenever they were registered. A name
// that a callback sets gets its path, a column that it fills in is written, and a condition that it
// adds decides which rows move. The plugin's own statements pass nobody's callbacks. A plugin that
// replaces gorm:create, gorm:update or gorm:delete after this one was registered, or builds a
// statement's SQL itself, makes writes to guarded tables fail with [ErrCallbacks]. If a write has
// changed other rows than were asserted, the transaction is rolled back, and the error is
// [ErrMissedRows].
//
// # Raw SQL
//
// [gorm.DB.Exec] and [gorm.DB.Raw] with SQL that writes to a guarded table, or that may, give a
// [*RawWriteError] and do nothing:
//
//   - UPDATE, INSERT, DELETE, REPLACE, MERGE, TRUNCATE, COPY and LOAD DATA, wherever they are in
//     the text: behind WITH, in EXPLAIN ANALYZE, in MariaDB's compound statements, in comments that
//     MySQL executes, in the text of PREPARE, EXECUTE IMMEDIATE and DO, and in definitions of
//     triggers, rules, events and routines;
//   - CREATE TABLE and SELECT INTO that fill a guarded table from a query, CREATE OR REPLACE TABLE;
//   - ALTER TABLE that adds rows or takes them away (TRUNCATE, DROP, EXCHANGE, CONVERT, ATTACH and
//     DETACH PARTITION, IMPORT and DISCARD TABLESPACE, INHERIT), ALTER IGNORE TABLE, and ALTER
//     COLUMN … USING with more than a cast.
//
// Reads pass, locking ones too. So do other definitions, DROP TABLE and RENAME TABLE, which
// migrations need: run those while nobody writes. A text that cannot be read with certainty, such
// as MySQL's UPDATE of a join, is refused. A name is a guarded table's if the database takes it for
// one: in any letter case on SQLite, and on MySQL where lower_case_table_names is 1 or 2. A table
// of the same name in another schema counts as guarded.
//
// If you must use raw SQL, lock, assert, then opt in:
//
//	db.Transaction(func(tx *gorm.DB) error {
//		at, err := gormplugin.LockSubtrees(tx, &Suite{}, id)
//		if err != nil {
//			return err
//		}
//		return gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET …", …).Error
//	})
//
// [WithoutTripwire] lets all raw SQL pass.
//
// # What it does not see
//
// The plugin does not see:
//
//   - calls of procedures, triggers and views, and prepared statements that are run by their name;
//   - SQL that the database assembles itself;
//   - SQL in the text of a clause or an expression (gorm.Expr, Where, Order);
//   - what is sent to a statement's ConnPool without GORM;
//   - connections that the plugin did not hand out, such as those of [gorm.DB.DB].
//
// A write by [gorm.DB.Connection], by a session made before [gorm.DB.Use] or by a bare *sql.Tx is
// refused with [ErrUnmanagedTransaction].
//
// # Operations on trees
//
// [Rename], [Move], [Copy] and [Delete] do what you would otherwise write by hand, in a number of
// statements that does not depend on the number of rows. [Subtree], [Ancestors], [Children],
// [Leaves] and [At] return queries that you can refine. All find a subtree by a range of the index
// over tree and path, never by LIKE.
//
// # Paths of ids
//
// A column with the tag "idpath" holds the primary keys from the top, the row's own included:
// "/1/17/203". It may stand beside a path of names, or alone. Alone, it is what path locks go by,
// and a rename touches one row. Where the database generates a new row's key, a second statement of
// the same transaction fills in the path.
//
// # Databases
//
// MySQL 8.0 to 9.x, and MariaDB 10.6 or later, at every isolation level. PostgreSQL 13 or later, at
// READ COMMITTED, or at SERIALIZABLE where that is the level of everybody; other combinations are
// refused with [ErrIsolation], since an UPDATE there misses rows that others have committed
// meanwhile. SQLite, preferably with _txlock=immediate: a transaction that was begun otherwise
// becomes the writer when the plugin needs it to, and fails as busy ([ErrRetry]) if it has read an
// older state by then.
//
// A relative of one of these, such as TiDB or CockroachDB, is refused with
// [ErrUnsupportedDatabase]: its row locks are not known to keep a tree right. [gorm.DB.Use] asks
// the server which it is, or else the first transaction on its connections does.
//
// # How it is built
//
// This package is the face: options, operations, queries and the schema. The work is done in
// packages of internal/, in floors. Each floor imports only floors beneath it; the linter checks
// that:
//
//	gormplugin                  the face; Plugin.register puts the frame into GORM's callbacks
//	  copying                   Copy
//	  write                     what happens on each write: update.go, insert.go, delete.go
//	  statement                 the frame around any write: begin, guard, explain, end, run again
//	  hold     tripwire         path locks, row locks, the assertion; raw SQL that is refused
//	  table    again            the models, their rows and where they are; trying again
//	  txn                       transactions, and when they have really ended
//	  dialect  treeschema       what each database says and needs; its tables, checked
//	  fault    rawsql           the errors; SQL texts
//
// Package treeschema is public and knows neither GORM nor models: programs call [Verify].
//
// The documentation of internal/write follows an UPDATE from the survey to the release of the
// locks.
package gormplugin
