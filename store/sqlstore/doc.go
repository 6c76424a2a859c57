// Package sqlstore keeps the locks of pathlock in two tables of a SQL database, for any number of
// processes: MySQL and MariaDB, PostgreSQL, SQLite. It is for those who have a database and no
// Redis.
//
//	store, err := sqlstore.New(db, sqlstore.Postgres)   // or sqlopen.Open("postgres://…")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
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
// decides in the process what an operation does to the tickets of a tree. This package reads the
// tickets, writes what has changed in one atomic step, and wakes the processes whose waits are
// over.
//
//	Store ─── ticketstore.Store        the lock table: queue, passing, deadlocks, leases, transfers
//	 └─ backend                        reads, decides, writes; tries again if another was faster
//	     ├─ cache                      the tickets that are as they were are neither sent nor parsed
//	     ├─ engine                     what differs: postgres, mysqlEngine, sqlite; folder sql
//	     ├─ lookout ─── listener       who waits here, and what has become of them; LISTEN
//	     └─ sweeper                    removes the rows that nobody uses any more
//
// # The tables
//
//	pathlock_trees    tree       SHA-256 of namespace, NUL and id
//	                  namespace, id
//	                  version    grows with every update of the tree
//	                  fence      the latest one
//	                  changed    when, in µs since 1970, UTC
//	pathlock_tickets  tree
//	                  place      in the order of arrival
//	                  version    of the tree when the ticket was written
//	                  state      0 waits, 1 holds, 2 was refused, 3 waits and is to be looked at
//	                  looks      how often its process was told to look at it
//	                  home       the process that waits, NULL if none does
//	                  ends       when the lease ends, in µs
//	                  ticket     the claims and all else, as JSON
//
// Nothing is compared as text, so that no collation, character set or SQL mode matters. The row of
// a tree that has been empty for ten minutes is removed after some update, as are tickets that
// ended ten minutes ago where nobody has used the tree since.
//
// # What an operation costs
//
// Two round trips, whatever it does: one statement reads the tree, its tickets and the clock, and
// one text writes, if the tree's version is still the one that was read. Otherwise both are done
// again. The write is one statement on PostgreSQL, and a transaction that the server runs by itself
// on MySQL and MariaDB: no transaction is open while a process thinks, is stopped or is cut off.
// After three vain tries a process locks the tree's row, so that those far from the server get
// their turn; the server ends the session of one that is stopped there after five seconds.
//
// The operations of one process on one tree that come at the same time are one update.
//
// On MySQL and MariaDB, that takes a connection which accepts several statements in one text: those
// of package sqlopen do, and those of a DSN with multiStatements=true. Otherwise an operation takes
// some ten round trips, and locks the tree's row for most of them.
//
// On SQLite, an operation is a transaction that begins by writing. It waits for its turn in this
// process first, and then for other processes, after random pauses of up to 5 ms.
//
// # How waiters are woken
//
// A waiter holds no connection. Those of the process that lets them in are woken by a channel. For
// those of other processes:
//
//   - PostgreSQL: the write notifies a channel that each process listens on, with one connection for
//     all its waiters. When that is lost, the process looks for itself until it has another one.
//     Where no notification arrives, as behind a pgbouncer in transaction mode, it goes on doing so:
//     see [WithListener].
//   - MySQL, MariaDB, SQLite: while somebody waits, each process looks for news of all its waiters
//     by one statement on an index. The pause between two looks grows from 1 ms to 50 ms. Tickets
//     that are deleted, as by ForceRelease, are noticed within a second.
//
// # What is guaranteed
//
//   - All that [pathlock.Store] promises, under the conformance suite on each database.
//   - An update is atomic at every isolation level that a session may have by default, with or
//     without autocommit, in read-only and in serialisable sessions.
//   - Leases are counted by the server's clock: UTC_TIMESTAMP(6), clock_timestamp(). On SQLite it is
//     the host's, by the process, because all processes are on one host. A clock that is set back
//     makes leases longer, and one that is set forward ends them early.
//   - Fences are max(last + 1, the clock in µs). They keep growing when a tree's row is removed.
//   - What is committed is as durable as the database is. A failover that loses commits loses locks;
//     the tree in the database is safe all the same.
//   - A connection that is lost in the middle of an operation leaves nothing half done. The error
//     matches [pathlock.ErrUnavailable], and the operation may be repeated.
//
// # Limits
//
//   - The claims of a request may have 1 MiB of text: see [WithMaxRequest].
//   - 2,000 requests may wait in one tree: see [WithMaxWaiters]. A process counts those that it has
//     seen in its last update.
//   - The updates of one tree happen one after the other. Trees are independent, but on SQLite.
//   - A connection pool that is used up makes operations wait, for ten seconds at most: see
//     [WithTimeout]. An application whose transactions hold all connections while they wait for locks
//     waits for itself: use a pool of the store's own.
//   - A SQLite file has one writer. Where locks are taken inside of the application's transactions,
//     keep them in a file of their own. The file must not be on a network file system.
//   - A server with several writers (Galera, group replication) is not tested.
package sqlstore
