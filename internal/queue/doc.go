// Package queue is the rule by which requests for locks of one tree are granted and wait. It knows
// owners, nodes, modes and an order of arrival, and neither clocks, leases nor stores. Package
// storetest has the same rule in the plainest form, as the oracle of the stores' tests.
//
// # The rule
//
// Two requests of different owners conflict if their modes are incompatible on some node. The gate
// is a node above the root: every request claims it in mode IX, and one for the gate in mode X.
//
// A request is granted as soon as it conflicts with no granted request and is behind no waiting
// one. It is behind every earlier waiter that it conflicts with, except those that it may pass: a
// request of an owner that holds something may pass a waiter that waits for that owner. A request
// waits for the owners of the grants that it conflicts with, for those whom these owners wait for,
// and for those whom the waiters wait for that it is behind.
//
// A request that is in the way of its own owner's holder is a deadlock: see [Queue.Deadlock]. Since
// it is refused, the graph of waits has no cycle, and no waiter has to look for one.
//
// Whether a request is behind a waiter can depend on whether another one is, and the other way
// round. The earlier of the two is judged first, as if the other were behind nobody.
//
// # The nodes
//
// A [Queue] is a tree of the nodes on which somebody holds or waits. Each has two lists for each
// mode, in order of arrival. One descent by the names of a path serves a whole claim set, and a
// request without any conflict on its own nodes is granted after one look at each of them, no
// matter who waits elsewhere.
//
//	├── gate          granted IX: r1 r2 r3     waiting IX: r4
//	└── root          granted IX: r1 r2 r3     waiting IX: r4
//	    ├── dir1      granted IX: r1 r2        waiting X:  r4
//	    │   ├── new   granted X:  r1
//	    │   └── old   granted X:  r2
//	    └── dir2      granted X:  r3
//
// # Waiting
//
// A request that has to wait watches one request in its way, preferably the waiter just before it,
// as the lock recipes of ZooKeeper do. It is looked at again when that one has gone. So a release
// costs as much as it lets in.
//
// Only a conversion, the waiting request of an owner that holds something, can become free while
// the request that it watches stays: when that one begins to wait for its owner. There are hardly
// ever any. After each change those that watch a waiter are judged anew.
package queue
