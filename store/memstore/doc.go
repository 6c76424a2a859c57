// Package memstore is the lock store of a single process. It is the embedded default, and the
// reference for the conformance suite in store/storetest.
//
//	locker := pathlock.New(memstore.New())
//
// # How it works
//
// Every tree has its own lock table, under its own mutex, by the rule of internal/queue. A table
// in which nobody holds or waits is forgotten. A few unused ones are kept for the next trees, so an
// uncontended request allocates nothing, however deep it is.
//
// There are no goroutines besides the callers'. The next look at a table notices a lease that has
// ended. If some wait and nobody looks, the table's timer ticks at the earliest lease end. All
// waiters listen to it, and the one that receives the tick clears up for all.
package memstore
