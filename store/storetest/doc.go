// Package storetest is the conformance suite of [pathlock.Store]. It has one test for each promise
// of a lock store. Run it from the tests of your own store:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) pathlock.Store {
//			client := connect(t) // skips the test where there is no server
//			t.Cleanup(func() { client.Close() })
//			return mystore.New(client)
//		})
//	}
//
// # How the tests use a store
//
// Each promise is tested on its own store from the given function. The promises of one topic are
// tested concurrently. All of these stores may be clients of one server, which others may use too:
// the tests work in trees with random ids, look at no others, and require that nothing is left in a
// tree at the end.
//
// The tests never sleep. They learn from [pathlock.Acquisition].Waiting that a request is queued,
// and from the end of a lease that time has passed. Leases that are meant to end last 500 ms,
// unless [Leases] says otherwise. Everything else lasts 30 s or more, so that a slow machine fails
// no test. One run takes a few seconds, and with [Virtual], for a store in memory, hardly any time.
// Once it opens a crowd of 200 waiters, 50 with -short.
//
// # The topics
//
//   - compatibility: all pairs of modes, on one node and above each other.
//   - model: a random machine asks, waits, gives up, repeats, releases, renews, transfers and
//     forces out, and compares every answer, and then what the store shows, with the definition
//     below: who is granted, refused, queued or handed over to, who gets a deadlock, and who is
//     named as a blocker; that a holder takes more, or something else, past those who wait for it;
//     that a set is granted whole or not at all; that fences grow; that nobody else's grant is
//     changed. A failure tells its seed, which PATHLOCK_STORETEST_SEED in the environment repeats.
//   - fairness: a crowd of readers and writers is served, and only the locks keep them apart.
//   - giving up: the end of the wait, which lets in those behind it, deadlines and cancellation.
//   - leases: they end for shared and exclusive holders, are renewed, and never get shorter. All
//     grants of an owner share one. A waiter's lease runs from its last sign of life, and a wait
//     longer than the lease ends in a lock whose lease lives.
//   - extremes: waits and leases of math.MaxInt64, and a wait of a nanosecond.
//   - several requests of one owner at once: each grant counts for the others. If a grant closes a
//     cycle, the wait in the cycle should end with ErrDeadlock at once. Its ordinary end is enough.
//     A request outlives the hold that it was sent on top of.
//   - gate: holders that ask for it.
//   - force release: what it tells a waiter, and an owner without a lease.
//   - holds that outlive their process: a crash of the process that detached or attached, and two
//     that attach at once.
//   - grants apart: a grant with a lease of its own.
//   - snapshot: the ends of leases, notes of any text, and what Trees lists.
//   - hostile text: ids and names that break carelessly built keys.
//   - between two clients: whoever waits in one process is woken by what happens in another, if
//     [Crash] says how to make two.
//   - crash: clients that die, likewise.
//   - silence: a server that does not answer, if [Silence] says how to stop it.
//
// # The order of the queue
//
// In one tree, at one instant, a waiting request W of an owner w
//
//   - conflicts with a holder, another owner, if some mode that it asks for is incompatible with
//     what the holder has on the node;
//   - is behind an earlier waiting request V of another owner if it conflicts with V and may not
//     pass it;
//   - may pass V if w holds something in the tree and V waits for w;
//   - waits for an owner A if it conflicts with a holder H, and H is A or some waiting request of H
//     waits for A; or if it is behind V, and V waits for A.
//
// A request is granted as soon as it conflicts with no holder and is behind nobody. Until then, a
// request that does not wait is refused. A request ends with a deadlock at once if it conflicts
// with a holder, and some waiting request of that holder waits for w. So no grant passes a waiter,
// except to an owner that the waiter waits for.
//
// Whether one request is behind a waiter can depend on whether another one is, and the other way
// round. Then the earlier of the two is judged first: for W, later requests of holders count as
// behind nobody.
package storetest
