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
// Package ticketstore has the lock table. This package keeps its tickets, and wakes the waiters:
//
//	/pathlock/testplan/plan-001/00000000000001f4  one request, by its place in the queue  ─┐ attached to
//	/pathlock/testplan/plan-001/00000000000001f5                                          ─┴─▶ an etcd lease
//	/pathlock//guards/01c                         the latest fence
//
// An operation takes two round trips. It reads the tree at one revision, and writes in one
// transaction, on condition that the tickets and the guard, which every such transaction writes,
// are still as they were read. If somebody else was faster, it does both again. Simultaneous
// operations of one process in a tree share one transaction.
//
// A waiter watches its own key, and the end of the key before it in the queue that it conflicts
// with. All watches of a process share a stream. A hand-over costs each waiter two events, and a
// few reads and transactions, however many others wait. But each read is of the whole tree: some
// 300 bytes for each request that holds or waits.
//
// # Leases
//
// etcd tells nobody the time, so nothing depends on its clock, or on how far the clocks of
// processes differ. Each time that a process gives a ticket longer to live, it writes the name of
// that renewal into the ticket. A process counts a lease as ended when it has seen the same renewal
// for the whole length of the lease, by its own clock. So a waiter learns in good time that a
// process has died, and a process ends its own tickets exactly.
//
// For the leases that nobody watches, each ticket is attached to an etcd lease that ends a little
// later. That lease lasts for whole seconds, at least one and a half of the election timeout. It is
// one second or a tenth longer than the ticket's lease, but no more than six seconds longer. etcd
// notices its end after half a second at most. The tickets that a process writes within that tenth
// share one, and no etcd lease lasts longer than it was made for: a renewal attaches the ticket to
// a later one. So work on one lock never keeps alive another lock that nobody renews.
//
// If a detached hold is older than the process that looks at it, the process asks etcd for the end
// of the hold, which etcd knows to a second.
//
// # What is guaranteed
//
//   - Modes, queueing, re-entry, upgrades and deadlocks are as [pathlock.Store] says.
//   - Whatever happens to messages, members and processes, no two owners hold what conflicts, as long
//     as both heed the ends of their leases: etcd does not forget a write that it has acknowledged.
//   - A fence is at least the revision of etcd at which the grant was decided. Of several grants in
//     one transaction, each has one more than the one before. Fences grow even if etcd was down.
//   - A process that is stopped for longer than its lease brings nothing back to life when it goes on.
//   - A transaction whose reply is lost is sent again, and carried out once. If none is answered in
//     time, the error matches [pathlock.ErrUnavailable], and what is left ends with its lease.
//   - Without a majority of the members, nothing is granted or released: all calls fail with an
//     error that matches ErrUnavailable. Leases do not end then. After a change of the leader, all
//     of etcd's leases begin anew.
//   - A compaction disturbs nobody.
//   - When a tree's last lock is released, its keys are gone. At most 1,024 small keys stay for
//     good: the guards below //guards/, each of which serves many trees.
//
// # Limits
//
//   - etcd takes 128 operations in a transaction, unless its --max-txn-ops says otherwise: see
//     [WithMaxTxnOps]. Several transactions let in larger crowds. But all grants of an owner share
//     a lease, and are written together. So an owner may have 120 grants in a tree, eight fewer
//     than there are operations. A program that takes more locks one by one merges them
//     ([pathlock.Merge]), as package gormplugin does.
//   - etcd takes 1.5 MB in a transaction: see --max-request-bytes. A request for many thousands of
//     nodes gets an error that matches [pathlock.ErrInvalidRequest].
//   - A full database, beyond --quota-backend-bytes, grants nothing. Releases go on.
//   - A member that hangs keeps its connections. Each request that goes to it costs a third of a
//     second until the client has noticed, which takes some ten seconds.
//
// A user of etcd needs permission to read and write all keys with the prefix, and nothing else.
package etcdstore
