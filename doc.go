// Package pathlock locks the nodes of trees, across any number of processes,
// for backends that keep a tree in a table with a materialised path column.
//
// # The model
//
// A [Tree] is a lock domain, a [Path] names a node in it, and a [Claim] is a
// path and a [Mode]: one of the five modes of multi-granularity locking (Gray
// et al., 1976). A [Request] states everything that a piece of work needs in
// one tree; it is granted whole or not at all, so that two requests cannot
// deadlock. X on a node is exclusive for its whole subtree, because everybody
// below holds an intention on it; X on a path where there is no node reserves
// the name.
//
//	rename /d1/d2 to /d1/new        insert /d1/x           rename /d1
//	IX /                            IX /                   IX /
//	IX /d1                          IX /d1                 X  /d1     waits for both
//	X  /d1/d2                       X  /d1/x
//	X  /d1/new                      both run at once
//
// # The parts
//
//	           Acquire(ctx, Request)
//	caller ──────────────► Locker ── scope holds it already? ──► Lock, no round trip
//	   ▲                     │ no
//	   │ Lock.Context():     ▼
//	   │ carries the scope,  Store.Acquire: whole claim set, one atomic step
//	   │ ends on ErrLost     │  memstore · redisstore · …
//	   │                     ▼
//	   └──────────────── background renewal, batched by tree, until Release
//
// A [Locker] adds to a [Store] what needs no store: re-entry through the context ([Scope]),
// background renewal of leases, and the report of loss, which cancels [Lock.Context] with a cause
// that matches [ErrLost]. A release can be left to it as well ([Lock.ReleaseInBackground]), so that
// nobody waits for the round trip; one that fails is tried again until the lease has ended.
// [Locker.Shutdown] awaits the last ones.
//
// # Order
//
// Waiters of one tree are served first come, first served, past those that they don't conflict with.
// Only an owner that holds something passes any waiter, and only those that wait for it: a waiter is
// passed by 0 grants to owners that it does not wait for.
//
// # Time
//
// A lease is counted from the last moment at which the store had certainly not granted it yet, and
// the lock's context ends by the clock no later than the lease does: however long the wait was,
// whatever the renewals do, and after the process or the host was stopped.
//
// # Locks that outlive a request
//
// [Lock.Detach] keeps what a lock holds until its lease ends, and returns a [Token] by which any
// process can make it a lock again ([Locker.Attach]), set its end ([Locker.Refresh]), and release it
// ([Locker.ReleaseToken]): for people who edit, WebDAV clients, and jobs that are handed on.
//
// # What a lock does not give
//
// A process that is stopped between its last look at the context and its write, a store that fails
// over or is flushed: in each case two may work at once. Locks give order, fairness and few aborts.
// Safety comes from the assertion inside the database transaction that package gormplugin adds,
// or from a [Lock.Fence] that the written data is checked against.
package pathlock
