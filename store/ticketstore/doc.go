// Package ticketstore makes a lock store from anything that keeps records and can change a few of
// them in one atomic step: a database, a coordination service, a file. [New] adds the lock table,
// the queue, the leases and the search for deadlocks to a [Backend]. The result passes
// store/storetest if the backend does what its interface says.
//
//	process                                          server
//	┌──────────────────────────────────────────┐     ┌─────────────────────────────────┐
//	│ Acquire, Release, Renew, …               │     │ tickets of "testplan/plan-001"  │
//	│   │ those that come together             │     │   7  granted  X /dir1   fence 41│
//	│   ▼                                      │     │   8  waiting  X /dir1           │
//	│ batch of the tree ── Update ─────────────┼────►│   9  granted  X /dir2   fence 42│
//	│   a lock table, restored from the tickets│     └───────────────┬─────────────────┘
//	│   the operations, in their order         │                     │
//	│   what has changed ──────────────────────┼────►                │
//	│ waiters ◄────────── Watch ───────────────┼─────────────────────┘
//	└──────────────────────────────────────────┘
//
// # Tickets
//
// A request appends a [Ticket] with its whole claim set, which waits, and then holds until it is
// released or its lease ends. An update reads all tickets of one tree, so its cost grows with how
// many hold and wait in that tree, and not with how many trees there are.
//
// Whoever changes a tree decides for everybody: a release writes, in the same step, the grants of
// the waiters that it lets in. The next update, by any process, notices a lease that has ended.
//
// # Waiting
//
// A waiter looks at its ticket when the backend wakes it, when the lease of the ticket that it
// waits for ends, and after each third of its own lease, as a sign of life. A waiter that gives no
// sign of life for a lease loses its place.
//
// # Time
//
// Ends of leases are written by the clock that all processes share, the server's. If a backend
// knows that clock only approximately, leases last longer by the error, and never shorter.
//
// # What a crash leaves
//
// A crash leaves only tickets, whose leases end. If the reply to an update is lost, the process
// reads the tree before it repeats the update: owner and grant id identify a request.
package ticketstore
