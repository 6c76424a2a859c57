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
// A [Locker] adds to a [Store] what needs no store: re-entry through the context
// ([Scope]), background renewal of leases, and the report of loss, which cancels
// [Lock.Context] with a cause that matches [ErrLost]. A release can be left to it
// as well ([Lock.ReleaseInBackground]), so that nobody waits for the round trip; [Locker.Shutdown] awaits the last ones.
//
// # What a lock does not give
//
// A process that sleeps past its lease, a store that fails over or is flushed: in
// each case two may believe that they hold. Locks give order, fairness and few aborts.
// Safety comes from the assertion inside the database transaction that package gormplugin adds,
// or from a [Lock.Fence] that the written data is checked against.
package pathlock
