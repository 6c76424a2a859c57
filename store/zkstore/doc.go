// Package zkstore keeps the locks of pathlock in ZooKeeper, for any number of processes.
//
//	store, err := zkstore.Open("zk://zk1,zk2,zk3/pathlock")
//	if err != nil { … }
//	defer store.Close(ctx)
//	locker := pathlock.New(store)
//
// It needs ZooKeeper 3.6 or later, and is tested with 3.8, standalone and as an ensemble of three.
// The client is go-zookeeper/zk.
//
// # What it does
//
// A tree is one znode, which holds all its tickets. Package ticketstore has the rules: an operation
// reads the tickets of a tree, decides by the lock table, and writes what they become, if nobody
// else has done so since. A ticket that waits has a znode of its own beside, for its process to
// watch: it is created, changed and removed in the same Multi.
//
//	 process A                    ZooKeeper                            process B
//	┌──────────┐  Get          ┌───────────────────────────────┐
//	│  locker  │ ────────────▶ │ /pathlock                     │
//	│ ticket-  │  Multi        │  └ testplan:plan-001  A, B    │  watches   ┌──────────┐
//	│  store   │ ────────────▶ │     ├ life-…                  │ ─────────▶ │  waiter  │
//	│ zkstore  │  one session  │     └ wait-…  B               │            └──────────┘
//	└──────────┘               └───────────────────────────────┘
//
// An acquisition that is granted at once takes two round trips, of which one is a write to a
// majority of the servers. So do a release and a renewal. Simultaneous operations of a process on
// one tree share them.
//
// # Waiting
//
// A waiting ticket's znode is deleted when the ticket is let in. Only its process watches it, so no
// event wakes two waiters, and a release costs the same number of requests whether 50 wait or 500.
//
// # Leases and sessions
//
// Every ticket has a lease, which everybody heeds by the clock of ZooKeeper's leader. Nothing
// depends on the session, and a lost connection is followed by another one. After a crash, others
// wait for the rest of the lease. The next update of the tree removes the ticket, or else a sweep,
// which each process runs every ten minutes.
//
// # What is guaranteed
//
//   - Modes, queueing, re-entry, upgrades and deadlocks are as [pathlock.Store] says. A grant is one
//     transaction of ZooKeeper, which a majority has on disk before anybody learns of it. No
//     failover forgets it.
//   - Fences are counted from the number of the tree's latest transaction, 256 for each. They grow
//     over all leaders, and after a tree was empty and its znode removed. They start again only if
//     the ensemble is recreated, or restored from a backup.
//   - An operation whose answer was lost is looked up, and done again only if it was not carried out.
//     It fails with an error that matches [pathlock.ErrUnavailable] when no server answers in time.
//   - A refusal is based on the latest state, even if a server is behind: the store asks the leader
//     first.
//   - A sweep removes trees in which nobody holds or waits.
//
// # What is assumed
//
//   - The clocks of the ensemble's hosts agree, as NTP sees to. If the clock of a newly elected
//     leader is ahead, leases end that much earlier, and their holders learn of it only at their
//     next update: until then, two owners may hold the same node. An update that finds the clock
//     ahead by more than a second fails. Safety must not rest on the locks alone. The clocks of the
//     processes themselves do not matter.
//   - minSessionTimeout is at most 6 seconds. With a larger one, a client leaves a server that hangs
//     only after two thirds of it.
//   - Nobody else writes below the root. [WithDigest] sees to that.
//
// # Limits
//
//   - A request to ZooKeeper has at most 1 MB, its jute.maxbuffer. So a tree has at most seven eighths
//     of that, all requests together: some 2,300 of ordinary claims. The rest is for what hand-overs
//     and renewals add. From three quarters on, no more may wait than already do: see
//     [pathlock.ErrQueueFull]. The claims of one request have at most an eighth: some 2,000 of
//     them. An owner has at most 1,000 grants. Beyond that, the error matches
//     [pathlock.ErrInvalidRequest].
//   - An update writes at most 128 tickets. Larger crowds are let in in batches.
//   - Every grant is a write to all servers. An ensemble does a few thousand each second.
//
// # Looking
//
// zkCli.sh shows what there is: ls /pathlock names the trees, get a tree shows the owners, claims
// and times of its tickets as JSON. Owners are secrets: whoever can read the znodes can release the
// locks.
package zkstore
