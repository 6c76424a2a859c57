// Package memstore is the lock store of a single process: the embedded default, and the
// reference for what the conformance suite in store/storetest means.
//
//	locker := pathlock.New(memstore.New())
//
// # How it works
//
// Every tree has a lock table of its own, under a mutex of its own; a table that nobody
// holds or waits in is forgotten. A table is itself a tree, of one record per node on which somebody
// holds or waits, and a record has two lists per mode, in order of arrival:
//
//	table of "testplan/plan-001"
//	├── gate          granted IX: r1 r2 r3     waiting IX: r4
//	└── root          granted IX: r1 r2 r3     waiting IX: r4
//	    ├── dir1      granted IX: r1 r2        waiting X:  r4
//	    │   ├── new   granted X:  r1
//	    │   └── old   granted X:  r2
//	    └── dir2      granted X:  r3
//
// To go down such a tree by the names of a path, once for a whole claim set, costs less than to look up every path of the set in
// a map. A few tables, records and requests without use are kept for the next ones, so that an uncontended
// request allocates its owner and nothing else, however deep it is.
//
// The gate is a node above the root. Every request claims it in mode IX and a
// request for the gate in mode X, so that it is granted, queued and handed
// over like everything else.
//
// Two requests of different owners conflict if there is a node on which their modes are incompatible. A
// request is granted at once if it conflicts with no granted request and,
// unless its owner holds something in the tree already, with no waiting one. What an
// owner has on a node is the supremum of its grants there; since a supremum is incompatible
// with exactly what its parts are incompatible with, it never needs to be
// computed: the grants are compared one by one.
//
// # Waiting
//
// A request that has to wait watches one of those that stand in its way, preferably the waiter
// next before it, as the lock recipes of ZooKeeper do. It cannot be granted while that
// one is there, whether queued or granted, and it is looked at again when that one
// has gone, and only then. So a release costs as much as it lets in, and wakes nobody else.
//
// There are no goroutines besides the callers'. A lease that has ended is
// noticed by whoever looks at the table next. Where nobody looks but some wait, a
// timer, one per table, ticks at the earliest lease end; all waiters listen to it, and
// the one that receives the tick clears up for all.
//
// # Deadlocks
//
// Requests state everything they need, so that only owners who ask for more while they
// hold something can wait for each other. Such a request is searched for a cycle before it is
// queued: from the holders in its way through those holders' own waiting requests, as far as
// they lead. The search is exact; it costs nothing while no holder waits.
package memstore
