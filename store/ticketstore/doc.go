// Package ticketstore makes a lock store of anything that keeps records and can change a few of
// them in one atomic step: [New] adds the lock table, the queue, the leases and the search for
// deadlocks to a [Backend].
package ticketstore
