// Package sqlstore keeps the locks of pathlock in a table of a SQL database, for any number of
// processes: MySQL and MariaDB, PostgreSQL, SQLite. Use it if you have a database but no Redis.
//
//	store, err := sqlstore.New(db, sqlstore.Postgres)   // or sqlopen.Open("postgres://…")
//	if err != nil {
//		return err
//	}
//	defer store.Close(ctx)
//	if err := store.Create(ctx); err != nil {           // once: it needs CREATE
//		return err
//	}
//	locker := pathlock.New(store)
//
// It needs MySQL 8.0, MariaDB 10.6, PostgreSQL 13 or SQLite 3.24, or a later one, and a server that
// takes writes: one primary.
//
// # How it works
//
// The rules of the lock table are in [github.com/pathlock-go/pathlock/store/ticketstore]: it
// decides in the process what an operation does to the tickets of a tree. This package reads a
// tree, writes it if nobody else has, and wakes the processes whose waits are over.
//
//	Store ─── ticketstore.Store   the lock table: queue, passing, deadlocks, leases, transfers
//	 └─ backend                   reads, decides, writes; tries again if another was faster
//	     ├─ table ─── database    the statements; what differs from database to database
//	     ├─ watcher               who waits here, and what has become of them
//	     └─ listener              LISTEN
//
// # The table
//
//	pathlock_trees  tree       SHA-256 of namespace, NUL and id
//	                namespace, id
//	                version    grows with every update of the tree; negative where the next is reserved
//	                fence      the latest one
//	                ends       when the last lease in the tree ends, in µs since 1970, UTC
//	                tickets    those who hold and wait, as JSON, a line each
//
// Nothing is compared as text, so that no collation, character set or SQL mode matters. If
// everything in a tree ended ten minutes ago, a later update removes its row.
//
// # What an operation costs
//
// Every operation takes two round trips: one statement reads the row and the clock, and one writes
// the row, if its version is still the one that was read. Otherwise the process repeats both, after
// a random pause. Each is a transaction of its own: none is open while a process thinks, is stopped
// or is cut off. Simultaneous operations of one process on one tree share one update.
//
// On MySQL and MariaDB, a statement is one round trip if the driver fills in the arguments: it does
// in package sqlopen, and by a DSN with interpolateParams=true. Otherwise it takes two.
//
// # How waiters are woken
//
// A waiter holds no connection. A channel wakes the waiters in the process that lets them in.
// Waiters in other processes wake up as follows:
//
//   - PostgreSQL: the write notifies a channel that each process listens on, with one connection
//     for all its waiters. When that is lost, the process looks for itself until it has another
//     one. It also looks once a second, in case a notification is lost, as behind pgbouncer in
//     transaction mode: see [WithListener].
//   - MySQL, MariaDB, SQLite: while somebody waits, each process asks for the rows of all its
//     waiters' trees that have another version, by one statement. The pause between two looks grows
//     from 1 ms to 50 ms.
//
// # What is guaranteed
//
//   - All that [pathlock.Store] promises, under the conformance suite on each database.
//   - An update is one statement, and so atomic at every isolation level. The store refuses a
//     session that does not autocommit, or only reads, with an error that says so.
//   - Leases are counted by the server's clock: UTC_TIMESTAMP(6), clock_timestamp(). On SQLite it is
//     the host's, by the process, because all processes are on one host. A clock that is set back
//     makes leases longer, and one that is set forward ends them early.
//   - Fences are max(last + 1, the clock in µs). They keep growing when a tree's row is removed.
//   - Grants are as durable as the database's commits. A failover that loses commits loses locks;
//     the tree in the database is still safe.
//   - If the connection is lost in the middle of an operation, nothing is left half done. The error
//     matches [pathlock.ErrUnavailable], and the operation may be repeated.
//
// # Limits
//
//   - 2,000 requests may wait in one tree: see [WithMaxWaiters]. An owner may have 3,000 grants
//     there. Each update writes all that hold and wait, some 300 bytes each.
//   - The updates of one tree happen one after the other. A process that keeps losing to nearer
//     ones for a quarter of a second reserves the next update. Trees are independent, except on
//     SQLite.
//   - If the connection pool is exhausted, operations wait, for ten seconds at most: see
//     [WithTimeout]. If an application's transactions hold all connections while they wait for
//     locks, it waits for itself: give the store its own pool.
//   - A SQLite file has one writer. If locks are taken inside of the application's transactions,
//     keep them in a file of their own. The file must not be on a network file system, and nobody
//     may remove or replace it while a process has it open. A pool of your own with several
//     connections makes its goroutines compete for the file.
//   - A server with several writers (Galera, group replication) is not tested.
package sqlstore
