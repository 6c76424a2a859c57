// Package fsck checks and repairs tables of trees whose rows carry their materialised paths. It
// works on MySQL, MariaDB, PostgreSQL and SQLite, with any number of rows and trees. A tree breaks
// when something writes past package gormplugin: before its introduction, by hand, or in another
// program.
//
//	checker, err := fsck.New(ctx, db, fsck.MySQL, fsck.DefaultTable("suites"))
//	summary, err := checker.Check(ctx, fsck.Options{}, func(p fsck.Problem) error { … })
//	outcome, err := checker.Repair(ctx, fsck.RepairOptions{Apply: true, Locker: locker, Log: file})
//
// For a model that is registered with gormplugin, use
// [github.com/pathlock-go/pathlock/fsck/gormfsck.New]: it finds the table and the columns. From a
// shell, the command `pathlock fsck` does the same.
//
// # How it checks
//
// A tree has either one root row, which has an empty name and is the only row at the top, or no
// root row and any number of rows at the top. A row at the top has no parent: NULL, 0, an empty
// text, the nil UUID, or bytes that are all zero.
//
// The right path of a row follows from names and parents alone. A row at the top has "/name", or ""
// if it is the root row. Any other row has its parent's right path + "/" + name.
//
// A check reads the rows in pages, ordered by key, in one state of the database. It climbs from
// each row to the top and compares. It reads the rows above a page level by level, for all rows of
// the page at once, and keeps what it met before in a memo of bounded size. So a page costs one or
// two statements where neighbouring rows share their ancestors, and at worst as many as the tree is
// deep. Three further statements let the database find rows beside a root row, siblings of one
// name, and children with another prefix.
//
// Memory is bounded whatever the table: one page of 500 rows, at most [pathlock.MaxDepth] rows
// above each, and the memo. Where more rows lead upwards than a path can have names, Brent's
// algorithm follows them with one row in memory.
//
// Time is proportional to the rows, with one exception: a chain of n rows whose parents come after
// their children costs n²/32768 more steps, 500 to a statement.
//
// Each [Kind] says what is wrong, which rows have it, and what the path should be. A row below an
// orphan, a cycle or a bad name has no right path: the check reports nothing about it until what is
// above is repaired. Rows that are marked as deleted are not part of the tree.
//
// # How it repairs
//
// In this order:
//
//  1. [NoTree]: the row gets the tree of the nearest row above that has one.
//  2. [BadName]: whatever a name cannot contain becomes "_"; an empty name and NULL become
//     "unnamed".
//  3. [Orphan]: the row moves, with its subtree, below the row "lost+found" at the top of its tree,
//     which is created if need be; with [RepairOptions.ToTop], it moves to the top.
//  4. [Cycle]: the row with the smallest key of the cycle moves there; the others stay below it.
//  5. [BesideRoot]: the row moves below the root row, the one with the smallest key if there are
//     several. It keeps its path, which is the same there. A second root row is called "root".
//  6. [Duplicate], [Lookalike]: the row with the smallest key keeps its name, and each other gets
//     the first free of "name (2)", "name (3)", …; the name is shortened where the column has no
//     room. To keep lookalikes as they are, change the column's collation first.
//  7. [WrongPath], [WrongIDPath]: the path is written.
//
// In 1 to 5, too, a name that is taken gets a number. A row that moves to the top gets the parent
// value of the rows there: NULL, 0, or the nil UUID. No row is ever deleted. [TooDeep] and
// [PathTooLong] are only reported.
//
// Each step takes the rows in order of their keys, and what it does to a row depends on the rows as
// they are and on nothing else. So the outcome depends neither on the order in which rows are
// stored nor on the size of transactions. If a repair ends early, even killed, the next one
// completes it with the same outcome; only the keys that the database gives to new rows may differ.
// The outcome is the same on all databases, as long as text keys have a collation that orders them
// by their bytes.
//
// A transaction changes at most [RepairOptions.BatchRows] rows of one tree, under the tree's gate
// if there is a [RepairOptions.Locker]. Before it decides, it reads under row locks what it
// changes, all rows above, the root row and the lost+found: nothing that others write meanwhile
// makes a path wrong. Each change is logged before it is committed.
//
// A dry run does the same in a transaction that only reads, and keeps in memory what it would have
// changed. Where a collation or an index holds different names equal, it may announce another
// number than the repair then takes.
//
// # What a repair skips
//
// A row or a tree that cannot be repaired does not keep the repair from the others. The repair
// reports it to [RepairOptions.Skipped] with the reason, and its problems are among those that are
// left:
//
//   - a row that the database refuses to write: by a constraint, a trigger, or a limit such as that
//     of an index on PostgreSQL. The rest of the transaction is done without it;
//   - orphans and cycles of a tree in which no lost+found can be created;
//   - a tree whose gate, or one of whose rows, somebody else holds for longer than
//     [RepairOptions.Wait];
//   - a tree without an id, or with one that cannot be the name of a lock;
//   - a row with a [BadKey].
//
// The end of the context ends any wait. A transaction that has all its rows is still committed.
//
// # Unique indexes
//
// Unique indexes over names or paths do not stop a repair. If two siblings have each other's path,
// for example, one gets a path that begins with "fsck:" until its own is written. That is a change
// like any other, though no dry run announces it. A name that an index refuses gets the next
// number.
//
// A row is skipped only if a deleted row has its path, or if another row rightly has a path that
// the index holds equal. The reason names the row in the way.
//
// # What the table needs
//
//   - a primary key of one column: numbers, texts, UUIDs or bytes;
//   - for a repair of many duplicates, an index that begins with the parent;
//   - for lost+found, defaults for all columns that [Table] does not describe.
package fsck

// The code has two halves. The first knows nothing of the second: a test compiles it alone.
//
// The reading half finds what is wrong, from the bottom up: what is said (key, table, problem,
// dialect), what the database says of the table (catalogue, inspect, connect), rows and how they
// are read (row, overlay, session), where they belong (memo, climb, longclimb), what is wrong with
// them (placement, siblings, mixed), and check, which does all of it.
//
// The writing half mends it: what is known meanwhile (known, spool, changelog), one row at a time
// (edit, siblinggroup, unique, freename, insert, lostfound), each kind of problem (mend),
// transactions (run, wait, transact), the order of it all (steps, treeless), and repair.
