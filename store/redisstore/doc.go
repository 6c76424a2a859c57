// Package redisstore keeps the locks of pathlock in Redis or valkey, for any number of processes: a
// single node, a primary under Sentinel, or a Cluster, by a redis.UniversalClient.
//
//	store := redisstore.New(redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379", ContextTimeoutEnabled: true}))
//	defer store.Close(ctx)
//	locker := pathlock.New(store)
//
// It needs Redis 7.0 or valkey 7.2, or later. docs/stores.md in the repository has what those who
// run the server need: settings, permissions, what a failover can lose, limits and memory.
//
// # What it does
//
// All locks of a tree are in five keys that share one hash tag. Every operation is one Lua script,
// which Redis runs in one atomic step by its own clock. An acquisition grants the whole claim set,
// or queues it, or refuses it. A release gives back and hands over: it grants to the waiters that
// now fit, in the order of their arrival, and publishes to each that it has been granted. They need
// not ask again.
//
// What a script costs depends on the claims of the request, on the grants that its owner has in the
// tree, and on the waiters that it meets, never on how many locks or trees there are. A release
// that lets in many waiters takes the server about 40 µs for each.
//
// # How the code is laid out
//
//	store, acquire, wait, hold, gate   the methods of a store
//	open, sentinels                    which servers a URL names
//	scripts, wire, keys                the Lua in the folder scripts, what it is sent, the keys
//	lib/handover.lua, listener         who is granted next and told so; who hears it
//	calls, takeback                    every call ends in time; what it left behind is withdrawn
//	conflict, looks                    who is in the way; what a snapshot shows
//
// # The keys
//
// For the tree ("testplan", "plan-001"):
//
//	pathlock:{testplan/plan-001}:locks      hash        who holds and who waits: see scripts/lib/keys.lua
//	pathlock:{testplan/plan-001}:deadlines  sorted set  when each lease and each place in the queue ends, in ms
//	pathlock:{testplan/plan-001}:queue      sorted set  who waits for which node, in order of arrival
//	pathlock:{testplan/plan-001}:fence      string      the last fence given out
//	pathlock:{testplan/plan-001}:gate       string      the tree's gate, a lock of github.com/bsm/redislock
//	pathlock:{testplan/plan-001}:withdrawn:<owner>:<grant id>
//	                                        string      a request that is granted nothing if it still comes
//
// The names of namespace and tree are escaped as in a URL: letters, digits, dot, dash and
// underscore stand for themselves. In the hash, the field of a node is n and eight bytes of the
// SHA-256 of its folded path, and its value counts the owners of the node, by mode. Two paths with
// the same eight bytes might conflict without need, but would never miss a conflict.
//
// After the last release of a tree the fence is all that is left, for a week. When everybody in a
// tree has crashed, the other keys expire with the last lease. What remembers a withdrawn request
// expires in two minutes.
//
// # The scripts
//
// They are in the folder scripts; each begins with its keys, its arguments and its reply. acquire,
// release, withdraw, renew, force and transfer change the table; snapshot reads it.
// scripts/lib/keys.lua says in which order their parts stand. acquire and release begin with the
// common case, in which nobody waits for the same nodes: it ends the script before the rest is run,
// at a quarter of the price.
//
// # What is guaranteed
//
//   - Modes, queueing, re-entry, upgrades and deadlocks are as [pathlock.Store] says. A deadlock is
//     found exactly: at the request that would close the cycle or, if an owner has several requests
//     waiting, at the grant that does.
//   - No grant passes a waiter, except to an owner that the waiter waits for.
//   - A holder that crashes keeps others out until its lease ends. A waiter that crashes does so
//     until one lease after it last asked, even if it was granted after that. The next script in
//     the tree clears both away, and waiters run one when the first deadline passes.
//   - A request or a release that is sent twice because its reply was lost is carried out once.
//   - A request that fails is withdrawn in the background, again and again, until Redis answers or
//     its lease has ended. If it reaches Redis later than that, it is granted nothing.
//   - A script that fails half-way, for example because it lacks a permission, leaves a mark, and
//     the next one removes the tree's locks: their holders learn so when they renew.
//   - Fences are max(last+1, the server's time in µs). They keep growing when a failover loses the
//     last writes, unless the new primary's clock is behind by more than that.
//   - Replication in Redis is asynchronous. A failover can forget the latest grants, and two owners
//     may then hold the same node: safety must not rest on the locks alone. The next renewal
//     reports the loss.
//   - maxmemory-policy has to be noeviction, the default: with any other, Redis may drop locks when
//     memory is short. With it, a full server refuses new locks, while releases and renewals go on.
//   - A request may claim 300 nodes, and 2,000 may wait in a tree,
//     unless [WithMaxClaims] and [WithMaxWaiters] say otherwise. An owner may have 3,000 grants in a
//     tree. Beyond that, requests are refused: see [pathlock.ErrQueueFull].
//
// # Waiting
//
// A process hears of its grants by pub/sub: one channel, on one connection, serves all trees. A
// cluster hands its messages to all of its nodes. The subscription begins with the first waiter and
// lasts until Close.
//
// A waiter also asks again without having been woken:
//
//   - when the first deadline in the tree has passed,
//   - when its subscription has been made, or made again,
//   - when a message says that what blocks it may go sooner, or without a further message,
//   - three times per lease, to keep its place,
//   - five times a second while another program's redislock has the gate, because redislock tells
//     nobody of its release.
//
// That is a fallback: a missed message costs at most the time until the next of these.
//
// # Clients
//
// A call ends at the latest its wait plus the time of [WithTimeout] after it began, and three
// quarters of a second after the deadline of its context, whatever the client and the network do.
// With ContextTimeoutEnabled, as [Open] has it, connections have that deadline. For other clients,
// each command runs on a goroutine of its own, which costs time, and which the caller may leave
// behind. A wait ends when its context is cancelled. With ContextTimeoutEnabled, a command that
// changes something and is under way then ends when the server answers, or with the time of
// [WithTimeout].
//
// Commands share the client's pool of connections. A process needs about as many connections as it
// has locks under way at once. A redis.Ring is refused: see [New].
//
// # Gates and plain redislock
//
// [GateKey] is an ordinary redislock key. As soon as a request for a gate is first in the queue, it
// takes the key. That stops newcomers and keeps redislock.Obtain out. The gate is granted when
// those who hold something in the tree have finished; if they do not finish in time, the key is
// given back. Scripts take and give back the key in one step with the queue, and write exactly what
// redislock writes.
//
// The other way round, a program that obtains the key with redislock alone stops new node locks and
// gates at once. It finds the node locks of that moment still held, and their owners may take more,
// so that they can finish. [GateKey] says how the program waits for them.
//
// # Looking
//
// Trees and Snapshot show who holds and who waits. ForceRelease takes away
// what one owner has. Whoever knows an owner can release what it holds: treat what redis-cli shows
// as secret.
package redisstore
