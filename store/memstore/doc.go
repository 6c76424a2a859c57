// Package memstore is the lock store of a single process: the embedded default, and the
// reference for what the conformance suite in store/storetest means.
//
//	locker := pathlock.New(memstore.New())
//
// # How it works
//
// Every tree has a lock table of its own, under a mutex of its own; a table that nobody holds or
// waits in is forgotten. A table is itself a tree, of one record per node on which somebody holds
// or waits, and a record has two lists per mode, in order of arrival:
//
//	table of "testplan/plan-001"
//	├── gate          granted IX: r1 r2 r3     waiting IX: r4
//	└── root          granted IX: r1 r2 r3     waiting IX: r4
//	    ├── dir1      granted IX: r1 r2        waiting X:  r4
//	    │   ├── new   granted X:  r1
//	    │   └── old   granted X:  r2
//	    └── dir2      granted X:  r3
//
// To go down such a tree by the names of a path, once for a whole claim set, costs less than to
// look up every path of the set in a map. A few tables, records, requests and owners without use
// are kept for the next ones, so that an uncontended request allocates nothing, however deep it is.
// A record knows which of its lists have elements, and a request that conflicts with nothing in any
// of them on its own nodes is granted after one look at each, whoever waits elsewhere.
//
// The gate is a node above the root. Every request claims it in mode IX and a
// request for the gate in mode X, so that it is granted, queued and handed
// over like everything else.
//
// Two requests of different owners conflict if there is a node on which their modes are
// incompatible. What an owner has on a node is the supremum of its grants there; since a supremum
// is incompatible with exactly what its parts are incompatible with, it never needs to be
// computed: the grants are compared one by one.
//
// A request is granted as soon as it conflicts with no granted request and is behind no waiting
// one. It is behind every earlier waiter that it conflicts with, except those that it may pass: a
// request of an owner that holds something may pass a waiter that waits for that owner. A waiter
// is passed by 0 grants to owners that it does not wait for. Package storetest has the whole
// definition.
//
// # Waiting
//
// A request that has to wait watches one of those that stand in its way, preferably the waiter
// next before it, as the lock recipes of ZooKeeper do. It cannot be granted while that one is
// there, whether queued or granted, and it is looked at again when that one has gone. So a release
// costs as much as it lets in, and wakes nobody else. When a waiter gives up, those who watched it
// watch what it watched itself where that is in their way as well: nobody is decided anew who has
// to go on waiting for the same.
//
// Only a conversion, which is a waiting request of an owner that holds something, can become free
// although the one that it watches stays: when that one begins to wait for its owner. That takes a
// waiter which loses the right to pass another, because somebody let go or gave up; it is behind
// that other one from then on, and waits for whom that one waits. So as long as any waiter passes
// another, whatever takes away an edge of the graph of waits has those conversions judged anew that
// pass somebody who waited for their owners through it: what a waiter leaves when it gives up, and
// what an owner releases that waits itself. If one of them may pass fewer than before, all are
// judged anew, as they are after a grant to an owner with further waiting requests.
//
// There are no goroutines besides the callers'. A lease that has ended is
// noticed by whoever looks at the table next. Where nobody looks but some wait, a
// timer, one per table, ticks at the earliest lease end; all waiters listen to it, and
// the one that receives the tick clears up for all.
//
// # Who waits for whom
//
// Requests state everything they need, so that only owners who ask for more while they hold
// something can be waited for by others that wait. When such an owner asks, and is not granted
// straight away, the requests that wait for it are searched, backwards: those that want what it
// holds; those behind them; those that want what their owners hold; and so on. Nearly always there
// are none, and the search has ended when it begins. It visits each waiting request and each owner
// once. Earlier waiters that it finds may be passed; a holder in the way with a request that it
// finds is a deadlock. With that, the graph of waits has no cycle at any time, and no waiter has
// to look for one.
//
// Whether a request is behind a waiter can depend on whether another one is, and the other way
// round. The earlier of the two is judged first, and the other is taken to be behind nobody
// meanwhile.
package memstore
