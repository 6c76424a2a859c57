// Package fsck checks and repairs tables that hold trees with materialised paths. It works on
// MySQL, MariaDB, PostgreSQL and SQLite, with any number of rows and trees. A tree breaks when
// somebody writes without package gormplugin: a program before it used the plugin, another program,
// or a person.
//
//	checker, err := fsck.New(ctx, db, fsck.MySQL, fsck.DefaultTable("suites"))
//	summary, err := checker.Check(ctx, fsck.Options{}, func(p fsck.Problem) error { … })
//	outcome, err := checker.Repair(ctx, fsck.RepairOptions{Apply: true, Locker: locker, Log: file})
//
// For a model that is registered with gormplugin, gormplugin.Describe returns the [Table]. From a
// shell, run `pathlock fsck`.
//
// # How it checks
//
// A tree has either one root row or none. A root row has an empty name, and is the only row at the
// top of its tree. Without a root row, any number of rows are at the top. A row at the top has no
// parent: NULL, 0, an empty text, the nil UUID, bytes that are all zero, or [Table.ParentTop].
//
// The right path of a row follows from names and parents alone. A row at the top has "/name", or ""
// if it is the root row. Any other row has its parent's right path + "/" + name. A column may spell
// its paths in another form: see [Table.PathForm].
//
// A check reads the table into memory, in one state of the database, and compares there. It asks
// the database only for names that a collation treats as equal. A million rows with names and paths
// of 120 bytes take up to a gigabyte.
//
// Each [Kind] says what is wrong, which rows have the problem, and what the path should be. A row
// below an orphan, a cycle or a bad name has no right path, and the check reports nothing about its
// path until the row above is repaired. Rows that are marked as deleted are not part of the tree.
//
// Of leaves, rows of other tables that hang below these, only paths and depths are checked and
// repaired: see [Table.Leaves]. They are read into memory, too.
//
// # How it repairs
//
// In this order:
//
//  1. [BadName]: each character that a name cannot contain becomes "_"; an empty name and NULL become
//     "unnamed".
//  2. [Orphan]: the row moves, with its subtree, below the row "lost+found" at the top of its tree,
//     which the repair creates if necessary.
//  3. [Cycle]: the row with the smallest key of the cycle moves there; the others stay below it.
//  4. [BesideRoot]: the row moves below the root row, the one with the smallest key if there are
//     several. Its path stays the same. A second root row gets the name "root".
//  5. [Duplicate], [Lookalike]: the row with the smallest key keeps its name. Each other row gets the
//     first free of "name (2)", "name (3)", …; the name is shortened if the column has no room. To
//     keep lookalikes as they are, change the column's collation first.
//  6. [WrongPath], [WrongIDPath], [WrongDepth]: the path or the depth is written.
//
// Steps 1 to 4 also add a number to a name that is taken. A lost+found gets the parent value of the
// rows at the top: NULL, 0, the nil UUID, or [Table.ParentTop]. A repair deletes no row. It only
// reports [TooDeep] and [PathTooLong].
//
// Each step takes the rows in the order of their keys, and decides by the current rows alone. So
// the outcome depends neither on the order in which rows are stored nor on the size of
// transactions. If a repair ends early, even killed, the next one completes it with the same
// outcome; only the keys that the database gives to new rows may differ. The outcome is the same on
// all databases, as long as the collation of text keys orders them by their bytes.
//
// A repair plans all this in memory. A transaction changes at most [RepairOptions.BatchRows] rows
// of one tree. It runs under the tree's gate if there is a [RepairOptions.Locker]. Under row locks,
// it asserts that the rows are as they were planned: those that it changes, all rows above them,
// the root row and the lost+found. So no concurrent write makes a path wrong. If others have
// changed rows meanwhile, the repair reads and plans these anew. It logs each change before the
// commit.
//
// A repair trusts the parents. If the parents of most rows are wrong, for example in a new column
// that nobody has filled, it refuses to begin: see [ErrMoves].
//
// A dry run plans, but writes nothing. If a collation or an index treats different names as equal,
// a dry run may announce a different number from the one that the repair uses.
//
// # What a repair skips
//
// A repair skips a row or a tree that it cannot repair, and goes on with the others. It reports the
// reason to [RepairOptions.Skipped], and the problems to [RepairOptions.Left]. It skips:
//
//   - a row that the database refuses to write, because of a constraint, a trigger, or a limit such as
//     that of a PostgreSQL index; the rest of the transaction is committed without it;
//   - orphans and cycles of a tree in which no lost+found can be created;
//   - a tree whose gate, or one of whose rows, another session holds for longer than
//     [RepairOptions.Wait];
//   - a tree with an id that cannot be the name of a lock.
//
// The end of the context ends any wait. A transaction that has written all its rows is still
// committed.
//
// # Unique indexes
//
// Unique indexes over names or paths do not stop a repair. If two siblings have each other's path,
// for example, one gets a path that begins with "fsck:" until its own is written. That is a change
// like any other, but a dry run does not announce it. If an index refuses a name, the row gets the
// next number.
//
// Two things make a repair skip the row: a deleted row has its path, or another row rightly has a
// path that the index treats as equal.
//
// # What the table needs
//
//   - a primary key of one column: whole numbers below 2^63, texts, UUIDs or bytes;
//   - a tree in every live row, neither NULL nor empty;
//   - for lost+found, columns that [Table] does not describe and that are NULL, or take their default
//     or the zero value of their type, or what [RepairOptions.LostFound] has for them.
package fsck

// The files, from the bottom up:
//
//   - what callers pass and get: check, key, problem, repairoptions, changelog;
//   - what the database says about the table: catalogue;
//   - the table in memory, and where its rows belong: row, forest, place, following;
//   - what is wrong with them: problem;
//   - the plan of a repair, in memory alone: repairplan, newname, lostfound;
//   - the transactions that assert and write it: transact, write, attempt;
//   - a whole repair: repair.
