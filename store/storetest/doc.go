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
// concurrently. All of these stores may be clients of one server, which others may use
// as well: the tests work in trees whose ids are random, look at no others, and require of each
// that nothing is left in it at the end. The tests never sleep. They learn from
// [pathlock.Acquisition].Waiting that a request is queued, and that time has passed from the
// end of a lease. Leases that are meant to end last 300 ms; everything else lasts 30 s or more, so that a
// slow machine fails no test. One run takes a few seconds and opens a
// crowd of 500 waiters once, 50 with -short.
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
//     are not kept back by waiters.
//   - fairness: no newcomer passes a waiter that it conflicts with; a root X gets its
//     turn under a stream of inserts; a crowd is served.
//   - giving up: NoWait, the end of the wait, deadlines, cancellation; what a conflict tells.
//   - leases: they end for shared and exclusive holders, are renewed, never get
//     shorter, are shared by all grants of an owner; a loss is reported.
//   - repetition: the same owner and grant id get the same grant.
//   - deadlock: exactly those who would close a cycle of waiting owners are told so, at once.
//   - several requests of one owner at once: each grant counts for the others. The best answer
//     to a grant that closes a cycle is ErrDeadlock at once for the wait that is part of it; the end of
//     that wait is good enough.
//   - gate: excludes every other owner, queues like everything else, is re-entrant.
//   - force release: of holders and of waiters. A request whose place in the queue is taken
//     away ends with an error that matches ErrLost; so does one that builds on holds which are gone.
//   - snapshot: what Snapshot and Trees show.
//   - fences: grow strictly, also after a tree was empty.
//   - hostile text: ids, names, owners and notes that break carelessly built keys.
//   - model: random requests against a list of holds and the definition of the modes, and
//     random requests that wait against a list of holds and a list of waiters. The seed is
//     part of the test's name; PATHLOCK_STORETEST_SEED in the environment repeats one.
//   - workload: counters that nothing but the locks guards.
//
// # Known scenarios
//
// Sixteen scenarios are known to have broken lock services. Those that can be seen
// through the interface have their number in the test's name: 1 to 4 under leases, 5 under
// re-entry, 6 under deadlock, 7 and 16 under fairness, 8 under giving up, 10 under
// release, 12 under all or nothing, 13 under compatibility. The others need more than this interface, and a
// store tests them beside this suite: a dead client at the head of the queue (the second half of 7), a restart
// of the server while locks are held (9), the death of a session (11), and how many
// wake-ups a crowd costs (the second half of 16). Scenarios 14 and 15 concern database
// transactions, not stores.
package storetest
