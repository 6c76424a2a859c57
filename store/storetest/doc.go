// Package storetest is the conformance suite of [pathlock.Store]: what every lock store
// promises, one test per promise. A store of your own runs it from its own tests:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) pathlock.Store {
//			client := connect(t) // skips the test where there is no server
//			t.Cleanup(func() { client.Close() })
//			return mystore.New(client)
//		})
//	}
//
// # What a store has to bear
//
// Every promise is tested on a store of its own from the given function, within one topic
// concurrently. All of these stores may be clients of one server, which others may use as well:
// the tests work in trees whose ids are random, look at no others, and require of each that
// nothing is left in it at the end. The tests never sleep. They learn from
// [pathlock.Acquisition].Waiting that a request is queued, and that time has passed from the end
// of a lease. Leases that are meant to end last 300 ms; everything else lasts 30 s or more, so
// that a slow machine fails no test. One run takes a few seconds and opens a crowd of 500 waiters
// once, 50 with -short.
//
// # The topics
//
//   - compatibility: all pairs of modes, on one node and above each other; trees and
//     subtrees that have nothing to do with each other.
//   - all or nothing: whatever ends a request without a grant leaves nothing of it; claim
//     sets that deadlock those who lock path by path.
//   - re-entry: an owner never conflicts with itself, has the supremum of its grants
//     on a node, and after a release the supremum of the rest.
//   - release: gives back exactly one grant, and refuses all others with ErrNotHeld.
//   - queueing: first come first served among those who conflict, past all others; holders
//     are not kept back by those who wait for them.
//   - passing: an owner passes only those who wait for it, in whatever way; a waiter is passed
//     by 0 grants to owners that it does not wait for, counted under owners that come again and again.
//   - fairness: no newcomer passes a waiter that it conflicts with; a root X gets its
//     turn under a stream of inserts; a crowd is served.
//   - giving up: NoWait, the end of the wait, deadlines, cancellation; what a conflict tells.
//   - leases: they end for shared and exclusive holders, are renewed, never get
//     shorter, are shared by all grants of an owner; a loss is reported. A waiter's lease runs from its
//     last sign of life, and a wait longer than the lease ends in a lock whose lease lives.
//   - extremes: waits and leases of math.MaxInt64, and a wait of a nanosecond.
//   - repetition: the same owner and grant id get the same grant.
//   - deadlock: exactly those who would close a cycle of waiting owners are told so, at once.
//   - several requests of one owner at once: each grant counts for the others. The best answer
//     to a grant that closes a cycle is ErrDeadlock at once for the wait that is part of it; the end of
//     that wait is good enough.
//   - gate: excludes every other owner, queues like everything else, is re-entrant.
//   - force release: of holders and of waiters. A request whose place in the queue is taken
//     away ends with an error that matches ErrLost; so does one that builds on holds which are gone.
//   - holds that outlive: what [pathlock.TransferStore] promises. Detach in one process, attach in another; the crash of
//     either; refreshes to earlier and to later; two at once; replies that were lost.
//   - snapshot: what Snapshot and Trees show.
//   - fences: grow strictly, also after a tree was empty.
//   - hostile text: ids, names, owners and notes that break carelessly built keys.
//   - model: random requests against a list of holds and the definition of the modes, and
//     random requests that wait against a list of holds and a list of waiters. The seed is
//     part of the test's name; PATHLOCK_STORETEST_SEED in the environment repeats one.
//   - a locker on the store: what people see of it, with renewals that hang and releases that fail.
//   - workload: counters that nothing but the locks guards.
//   - crash: clients that die, where [Crash] tells how to have one die.
//
// # The order of the queue
//
// In one tree, at one instant, a waiting request W of an owner w
//
//   - conflicts with a holder, another owner, if some mode that it asks for is incompatible with what that
//     one has on the node;
//   - is behind an earlier waiting request V of another owner if it conflicts with V and may not pass it;
//   - may pass V if w holds something in the tree and V waits for w;
//   - waits for an owner A if it conflicts with a holder H, and H is A or some waiting request of H waits for A; or
//     if it is behind V, and V waits for A.
//
// A request is granted as soon as it conflicts with no holder and is behind nobody. One that does
// not wait is refused otherwise. One that conflicts with a holder of whom some waiting request
// waits for w ends with a deadlock at once. So a waiter is passed by 0 grants to owners that it
// does not wait for.
//
// Whether one request is behind a waiter can depend on whether another one is, and the other way
// round: then the earlier of the two is judged first. For the sake of W, later requests of holders
// are taken to be behind nobody.
//
// # Known scenarios
//
// Sixteen scenarios are known to have broken lock services. Those that can be seen
// through the interface have their number in the test's name: 1 to 4 under leases, 5 under
// re-entry, 6 under deadlock, 7 and 16 under fairness, 8 under giving up, 10 under
// release, 12 under all or nothing, 13 under compatibility; a dead client at the head of the queue
// (the second half of 7) is under crash. The others need more than this interface, and a
// store tests them beside this suite: a restart
// of the server while locks are held (9), the death of a session (11), and how many
// wake-ups a crowd costs (the second half of 16). Scenarios 14 and 15 concern database
// transactions, not stores.
package storetest
