// Package fsck finds and mends what is wrong with trees whose rows carry their materialised paths,
// in tables of any number of rows and trees, on MySQL, MariaDB, PostgreSQL and SQLite. Trees break
// where something wrote past package gormplugin: before it was introduced, by hand, or in another
// program.
//
//	checker, err := fsck.New(ctx, db, fsck.MySQL, fsck.DefaultTable("suites"))
//	summary, err := checker.Check(ctx, fsck.Options{}, func(p fsck.Problem) error { … })
//	outcome, err := checker.Repair(ctx, fsck.RepairOptions{Apply: true, Locker: locker, Log: file})
//
// For a model that is registered with gormplugin,
// [github.com/pathlock-go/pathlock/fsck/gormfsck.New] finds table and columns by itself. The
// command `pathlock fsck` does the same from a shell.
//
// # How it checks
//
// A tree has either one root row, with an empty name, which is its only row at the top, or no root
// row and any number of rows at the top. NULL, 0, an empty text, the nil UUID and bytes that are
// all zero are no parent.
//
// The right path of a row follows from names and parents alone: a row without a parent has "/name"
// or, as the root row, with an empty name, ""; any other has its parent's right path + "/" + name.
// A check reads the rows in pages, in order of their keys and in one state of the database, climbs
// from each to the top, and compares. The rows above a page are read level by level for all its
// rows at once, and a memo of bounded size has those that were met before, so that a page costs one
// or two statements where rows that are near each other have ancestors in common, and as many as
// the tree is deep at worst. Three further statements let the database find rows beside a root row,
// siblings of one name, and children with another prefix.
//
// The memory is bounded whatever the table: a page of 500 rows and those above it, at most
// [pathlock.MaxDepth] for each, and the memo. Ways up that are longer than a path can be are
// followed with one row in memory, by Brent's algorithm. The time is proportional to the rows, but
// for such ways: a chain of n rows whose parents come after their children costs n²/32768 steps
// more, 500 to a statement.
//
// Each [Kind] says what is wrong, which rows have it, and what the path should be. A row below an
// orphan, a cycle, or a bad name has no path that would be right: nothing is said of it until what
// is above has been mended. Rows that are marked as deleted are not part of the tree.
//
// # How it repairs
//
// In this order:
//
//  1. [NoTree]: the row gets the tree of the nearest row above that is in one.
//  2. [BadName]: whatever cannot be in a name becomes "_"; an empty name and NULL become "unnamed".
//  3. [Orphan]: the row goes, with all that is below it, under the row "lost+found" at the top of
//     its tree, which is created if need be; or, with [RepairOptions.ToTop], to the top.
//  4. [Cycle]: the row with the smallest key of the cycle goes there, and the others stay below it.
//  5. [BesideRoot]: the row goes below the root row, the one with the smallest key if there are
//     several. Nothing else changes: there, it has the path that it had at the top. A second root
//     row is called "root".
//  6. [Duplicate], [Lookalike]: the row with the smallest key keeps its name, and the others get
//     the first free of "name (2)", "name (3)", …; the name is shortened where the column has no
//     room. To tell lookalikes apart instead, change the column's collation before.
//  7. [WrongPath], [WrongIDPath]: the path is written.
//
// In 1 to 5, too, a name that is taken gets a number. A row that comes to the top gets what the
// other rows there have for a parent: NULL, 0, or the nil UUID. Rows are never deleted. [TooDeep]
// and [PathTooLong] are left as they are, and reported.
//
// Each step takes the rows in order of their keys, and what it does to one depends on the rows as
// they are and on nothing else. So the outcome depends neither on the order in which rows are
// stored nor on the size of transactions, and a repair that was ended anywhere, even killed, is
// completed by another one with the same outcome, but for the keys of created rows that the
// database gives out. It is the same on all databases, as long as text keys have a collation that
// orders them by their bytes.
//
// A transaction changes at most [RepairOptions.BatchRows] rows of one tree, under the tree's gate
// if there is a [RepairOptions.Locker]. It reads again, under row locks, what it changes and all
// that is above, the root row and the lost+found, and decides then: what others write meanwhile
// makes no path wrong. Each change is in the log before it is committed. A dry run does the same in
// a transaction that only reads, with what it would have changed kept in memory; under a collation
// or an index that holds different names equal it may say another number than a repair then takes.
//
// # What a repair skips
//
// One row or one tree that cannot be mended does not keep a repair from mending the others. It is
// told to [RepairOptions.Skipped], with the reason, and what is wrong with it is among the problems
// that are left:
//
//   - a row that the database refuses to write: by a constraint, a trigger, or a limit such as that
//     of an index on PostgreSQL. All else that the transaction does is done without it;
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
// Unique indexes over names or paths do not stop a repair. A row in the way, such as one of two
// siblings that have each other's path, gets a path that begins with "fsck:" until its own is
// written, a change like any other, though no dry run announces it; a name that an index refuses
// gets the next number. Only where a deleted row has the path, or a row that has it by right to the
// index but not to the repair, the row is skipped, and the reason says which one is in the way.
//
// # What the table needs
//
// A primary key of one column (numbers, texts, UUIDs or bytes), an index that begins with the
// parent, for a repair of many duplicates, and, for lost+found, defaults for all columns that are
// not described in [Table].
package fsck

// The code has two halves, and the first knows nothing of the second.
//
// The reading half finds what is wrong, from the bottom up: what is said (key, table, problem,
// dialect), what the database says of the table (catalogue, inspect, connect), rows and how they
// are read (row, overlay, session), where they belong (memo, climb, far), what is wrong with them
// (placement, siblings, mixed), and check, which does all of it.
//
// The writing half mends it: what is known meanwhile (known, spool, changelog), one row at a time
// (edit, besides, unique, freename, insert, lostfound), each kind of problem (mend), transactions
// (run, wait, transact), the order of it all (steps, treeless), and repair.
