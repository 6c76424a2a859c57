// Package etcdstore keeps the locks of pathlock in etcd, for any number of processes.
//
//	store, err := etcdstore.Open("etcd://etcd-1,etcd-2,etcd-3/locks")
//	defer store.Close(ctx)
//	locker := pathlock.New(store)
//
// It is tested with etcd 3.7. The client has to know all members. A grant is as durable as any
// write to etcd: it survives the loss of a minority of the members, a change of the leader, and a
// restart of the whole cluster.
//
// # What it does
//
// The lock table is package ticketstore's. This package keeps its tickets, and wakes those who
// wait:
//
//	/pathlock/testplan/plan-001/guard                     the latest fence, and who wrote last
//	/pathlock/testplan/plan-001/tickets/00000000000001f4  one request, by its place in the queue
//	/pathlock/testplan/plan-001/tickets/00000000000001f5    │
//	                                                        │ attached to
//	        etcd lease of a process, for its tickets  ◀─────┤
//	        etcd lease of a detached hold             ◀─────┘
//
// An operation reads the tree, at one revision, and writes in one transaction: under the condition
// that the guard, which every such transaction writes, and the tickets are still as they were read.
// If somebody else was faster, the transaction reads the tree again instead. That is two round
// trips. A process that has a ticket in the tree remembers the tree, which saves the read if nobody
// else has written since. The operations of one process in a tree that come together go into one
// transaction.
//
// A waiter watches two keys: its own, and the end of the one before it in the queue that it
// conflicts with. All watches of a process share a stream. A hand-over costs each waiter two
// events, one or two reads and one transaction, however many others wait. But each read is of the
// whole tree: some 300 bytes for each request that holds or waits.
//
// # Leases
//
// etcd tells nobody the time, so nothing depends on its clock, or on how far the clocks of
// processes differ:
//
//   - A process ends its own tickets, by its own clock.
//   - It ends another's, if it has seen it unchanged for the whole of its lease. So a waiter learns
//     in good time that a process has died.
//   - etcd ends all tickets of a process that has died, with an etcd lease. That lasts for whole
//     seconds, at least one and a half of the election timeout, a tenth longer than the tickets'
//     leases but no more than five seconds, and etcd notices its end after half a second at most.
//     So leases under two seconds end later than they should where nobody waits for their end.
//
// All tickets of a process with leases of one length share an etcd lease. No goroutine keeps it
// alive. An operation that promises a lease renews it, if need be, while its transaction is under
// way, and succeeds if both do. So nothing that a process does for one lock keeps another alive
// that nobody renews.
//
// A detached hold has an etcd lease of its own. Its end is the one that was set, by the clock of
// the process that set it. Where clocks differ by more than a second, etcd's answer counts, to a
// second.
//
// # What is guaranteed
//
//   - Modes, queueing, re-entry, upgrades and deadlocks are as [pathlock.Store] says.
//   - Whatever happens to messages, members and processes, no two owners hold what conflicts, as long
//     as both heed the ends of their leases: etcd does not forget a write that it has acknowledged.
//   - [Store.Owns] goes further. It returns conditions for a transaction of one's own in the same
//     etcd, which then writes only if the lock is held.
//   - A fence is a revision of etcd, at most the one that the grant was written at. Of several grants
//     in one transaction, each has one more than the one before. They grow even if etcd was down.
//   - A process that is stopped for longer than its lease brings nothing back to life when it goes on.
//   - A transaction whose reply is lost is sent again, and carried out once. Where its outcome stays
//     unknown, the error matches [pathlock.ErrUnavailable], and the lease sees to what is left.
//   - Without a majority of the members nothing is granted, and nothing is let go: all calls fail with
//     an error that matches ErrUnavailable. Leases do not end then. After a change of the leader, all
//     of etcd's leases begin anew.
//   - A compaction disturbs nobody.
//   - When a tree's last lock is released, its keys are gone. Where several grants were made at once,
//     the guard stays for a second or so. For good stay only 64 empty keys below //floors/, which see
//     to it that fences grow.
//
// # Limits
//
//   - etcd takes [DefaultMaxTxnOps] operations in a transaction, unless its --max-txn-ops says
//     otherwise: see [WithMaxTxnOps]. More requests than that are let in by several transactions.
//   - etcd takes 1.5 MB in a transaction: see --max-request-bytes. A request for many thousands of
//     nodes gets an error that matches [pathlock.ErrInvalidRequest].
//   - A full database, beyond --quota-backend-bytes, grants nothing. Releases go on.
//   - A member that hangs keeps its connections. Each request that goes to it costs a third of a
//     second until the client has noticed, which takes some ten seconds.
//
// A user of etcd's needs the permission to read and write all keys with the prefix, and nothing
// else.
package etcdstore
