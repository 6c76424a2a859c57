// Package locktable is the lock table of one tree: who holds what, who waits for whom, and whose
// turn it is. Package storetest has the definition of what a table does.
//
// A table knows neither clocks nor goroutines: time comes with each use. A store in memory keeps
// its tables for as long as somebody holds or waits. A store that keeps its tickets elsewhere
// restores a table from them, uses it, and writes what has changed.
//
// # The records
//
// A table is itself a tree, with one record for each node on which somebody holds or waits. A
// record has two lists for each mode, in order of arrival:
//
//	table of "testplan/plan-001"
//	├── gate          granted IX: r1 r2 r3     waiting IX: r4
//	└── root          granted IX: r1 r2 r3     waiting IX: r4
//	    ├── dir1      granted IX: r1 r2        waiting X:  r4
//	    │   ├── new   granted X:  r1
//	    │   └── old   granted X:  r2
//	    └── dir2      granted X:  r3
//
// One descent by the names of a path serves a whole claim set. It costs less than a look-up of
// every path of the set in a map. A few unused tables, records, requests and owners are kept for
// the next ones, so an uncontended request allocates nothing, however deep it is. A record knows
// which of its lists have elements. A request without any conflict on its own nodes is granted
// after one look at each of them, no matter who waits elsewhere.
//
// The gate is a node above the root. Every request claims it in mode IX, and a request for the gate
// claims it in mode X. So the gate is granted, queued and handed over like any other node.
//
// Two requests of different owners conflict if their modes are incompatible on some node. What an
// owner has on a node is the supremum of its grants there. A supremum is incompatible with exactly
// what its parts are incompatible with. So it is never computed: the grants are compared one by
// one.
//
// A request is granted as soon as it conflicts with no granted request and is behind no waiting
// one. It is behind every earlier waiter that it conflicts with, except those that it may pass. A
// request of an owner that holds something may pass a waiter that waits for that owner. A waiter is
// passed by 0 grants to owners that it does not wait for. Package storetest has the whole
// definition.
//
// # Waiting
//
// A request that has to wait watches one request in its way, preferably the waiter just before it,
// as the lock recipes of ZooKeeper do. It cannot be granted while that one is there, whether queued
// or granted, and is looked at again when that one has gone. So a release costs as much as it lets
// in, and wakes nobody else. When a waiter gives up, its watchers watch what it watched, if that is
// in their way too. So nobody is decided anew who has to wait for the same.
//
// A conversion is a waiting request of an owner that holds something. Only a conversion can become
// free while the request that it watches stays: when that one begins to wait for its owner. This
// happens when a waiter loses the right to pass another, because somebody released or gave up. From
// then on it is behind that other one, and waits for the same owners.
//
// So two events matter as long as any waiter passes another: a waiter gives up, or an owner
// releases something while it waits itself. Either takes edges out of the graph of waits. Then
// those conversions are judged anew that pass somebody who waited for their owners through such an
// edge. If one of them may pass fewer than before, all are judged anew. So they are after a grant
// to an owner with further waiting requests.
//
// # Who waits for whom
//
// Requests state everything that they need. So a waiter can wait for an owner that waits itself
// only if that owner asks for more while it holds something. When such an owner asks, and is not
// granted at once, the table searches backwards for the requests that wait for it: those that want
// what it holds, those behind them, those that want what their owners hold, and so on. Nearly
// always there are none. The search visits each waiting request and each owner once.
//
// The owner may pass the earlier waiters that the search finds. If the search finds a request of a
// holder in the owner's way, that is a deadlock. So the graph of waits never has a cycle, and no
// waiter has to look for one.
//
// Whether a request is behind a waiter can depend on whether another one is, and the other way
// round. The earlier of the two is judged first, as if the other were behind nobody.
// # Mortal waiters
//
// In a restored table, a waiter's process may be another one, which may die. So each waiter has a
// lease, which its process's signs of life prolong. A grant that is handed over to it gets what is
// left of that lease.
package locktable
