// Package pathlock locks the nodes of trees across any number of processes. It is for backends that
// keep a tree in a table with a materialised path column.
//
// # The model
//
// A [Tree] is a lock domain, and a [Path] names a node in it. A [Claim] is a path and a [Mode], one
// of the five modes of multi-granularity locking (Gray et al., 1976). A [Request] states everything
// that a piece of work needs in one tree. The store grants it whole or not at all, so two requests
// cannot deadlock. X on a node is exclusive for its whole subtree, because every holder below has
// an intention on it. X on a path without a node reserves the name.
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
// A [Locker] adds two things to a [Store]: re-entry through the context ([Scope]), and background
// renewal of leases. It reports a lost lease by cancelling [Lock.Context] with a cause that matches
// [ErrLost]. [Lock.ReleaseInBackground] spares the caller the round trip of a release. A release
// that fails is retried until the lease has ended. [Locker.Shutdown] waits for the last ones.
//
// # How the code is laid out
//
//	tree, path, claim        what can be locked, and how
//	request, acquire, mutex  from a Request to the store, once more if a release was under way
//	locker, scope, holding   who holds, and what it holds in a tree
//	lock, exchange, release  what callers get, change, and give back
//	renewal                  what the store answers to a renewal, and the loss of a lease
//	token, detach            holds that outlive their process
//	store, snapshot          what a lock store has to do, and what it shows
//	observer, origin, errors what others learn
//	internal/queue           which modes conflict, who passes whom, deadlocks
//	internal/lease           which leases are due, until when each counts, and what is to be released
//
// # Order
//
// The waiters of one tree are served first come, first served. A request passes the waiters that it
// does not conflict with. It passes a waiter that it conflicts with only if that waiter waits for
// its owner, which then holds something that the waiter needs.
//
// # Time
//
// The locker counts a lease from the last moment at which the store had certainly not granted it
// yet. The lock's context ends by the clock no later than the lease does, however long the wait
// was, whatever the renewals do, and even after the process or the host was suspended.
//
// # Locks that outlive a request
//
// [Lock.Detach] keeps what a lock holds until its lease ends, and returns a [Token]. With the
// token, any process can make it a lock again ([Locker.Attach]), set its end ([Locker.Refresh]) or
// release it ([Locker.ReleaseToken]). Editors, WebDAV clients, and jobs that one process hands to
// another need such locks.
//
// # What a lock does not give
//
// Two holders may work at once when a process is stopped between its last look at the context and
// its write, and when a store fails over or is flushed. Locks give order, fairness and few aborts.
// Safety comes from the assertion that package gormplugin adds to the database transaction, or from
// comparing a [Lock.Fence] where data is written.
package pathlock
