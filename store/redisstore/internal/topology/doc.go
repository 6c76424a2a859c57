// Package topology proves on real servers what package redisstore promises about each way to run
// Redis: a single node, a primary under sentinels, a cluster; and the same with valkey. It has
// tests only, which start the servers that they need (package testredis) and know the store by its
// public interface.
//
// What is proved, and where:
//
//   - conformance_test.go: every promise of [pathlock.Store] on every deployment.
//   - crash_test.go: what a killed process held, shared and exclusive, and its place in the queue, end within its lease and
//     a second on every deployment, though nobody else comes.
//   - failover_test.go: primaries that are failed over in good order, that crash, that crash with
//     writes which no replica has, and that hang. Holders still hold or learn that they have lost; waiters go on; fences rise.
//     What no replica has when a primary crashes is lost; replication in Redis is asynchronous.
//   - replicas_test.go: where the store waits for replicas, a grant that they have not got is none.
//   - slots_test.go: slots that move to another node while locks are held and waited for, and every state in between: no call
//     is granted what another holds, and a waiter is told of its grant where the slot is then.
//   - scripts_test.go: script caches that are emptied at any time.
//   - lostreply_test.go: replies that are lost, and commands that the client sends again.
//   - wakeup_test.go: by which channel waiters are told, on how many connections, and that they are told soon when these are lost.
//   - leftovers_test.go: ten thousand trees used and released leave nothing but fences that expire.
//
// While a slot is on its way, a cluster refuses scripts whose keys are not all on one node, and a
// tree's keys are not even all there: until the move is over, calls in its trees are made again for
// as long as the store's timeout allows, and fail with ErrUnavailable then.
//
// Leases are so long that a waiter which is granted within a test's patience was told so: left to
// itself, it asks again after a third of its lease.
package topology
