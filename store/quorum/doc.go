// Package quorum holds locks at a majority of several independent stores, which is the rule of
// Redis's Redlock for stores of any kind. If a minority of them fails, no lock is lost.
//
//	store, err := quorum.New([]pathlock.Store{a, b, c}) // the same ones, in this order, everywhere
//	defer store.Close(ctx)
//	locker := pathlock.New(store)
//
// # How it works
//
// Each member is a whole lock store, with a queue, leases and fences of its own. A request is
// granted when a majority of the members has granted it within its lease. Any two majorities share
// a member, and no member grants conflicting requests, so no two conflicting requests are granted
// at once.
//
// Redlock does not say who comes first when several requests want the same node. Here the first
// member that answers decides: it is the lead.
//
//	Acquire   the lead:   grants, or queues the request until it is its turn, or refuses it
//	          the others: confirm what the lead has granted; queue it while a release is under way
//	          all:        give it back where no majority confirms it
//	Release   all members at once
//
// So the order of arrival, passing, conversions, deadlocks and gates work as in one store, and
// competing clients never split the members so that nobody gets a majority. If a majority would
// grant a newcomer but the lead does not, the newcomer is refused or queued: nobody passes the
// waiters. The other members are asked only for what the lead has granted, so they queue nobody,
// except while a release is on its way.
//
// So an acquisition takes two round trips: one to the lead, and then one to all others at once. If
// the lead does not grant, the others are not asked.
//
// Processes that do not reach the same members may have different leads. Exclusion does not depend
// on that, but each of them may then win some of the members. So if no majority confirms a grant
// within a tenth of a second, all members give it back, including the lead. A request that waits
// tries again after a random pause, behind those that have queued meanwhile.
//
// # Silence
//
// A member that has not answered within [WithTimeout], or fails, is silent. From then on the
// process asks it only in the background, a few times per time-out, until it answers. Before the
// member takes part again, the process repeats the releases that the member has missed. So a silent
// member costs each process one time-out, and then nothing. A member that has requests in its queue
// is looked at twice per time-out, by one goroutine, however many wait. If it falls silent, they
// queue at the next one.
//
// A member that refuses a grant and takes the request back, like a Redis that is out of memory, is
// not silent: it goes on renewing, handing over and releasing the grants that it has.
//
// When too few members are left, requests fail with a [*MajorityError], which matches
// [pathlock.ErrUnavailable] and says which members failed and why.
//
// # Leases
//
// A grant lives for as long as a majority has it. [pathlock.Grant].Asked is the moment from which a
// majority keeps the grant for its lease: each member of it was asked then, or later. Members are
// asked for leases longer than promised, by the possible drift of their clocks: 50 millionths.
//
// A renewal is one call to each member. An owner has lost its lock when a majority has no grant of
// it. A member that lost a grant, or was silent when the grant was made, does not get it later:
// Redlock's rule does not add it either, and its fence would be new. So a hold ends as soon as
// fewer than a majority have it, even if members were restarted one at a time. Remember this if you
// detach holds for days.
//
// # Fences
//
// A fence is the greatest of those that the counted members gave, times sixteen, plus the member's
// number, so that no two grants have the same one. Members' fences are at least their clocks in
// microseconds in memstore and redisstore. Another majority need not have the member whose clock is
// most ahead. So an acquisition returns when the clocks of a majority have passed its fence: every
// later majority has one of them in it, and gives a greater fence. If the clocks agree, this takes
// no time; otherwise, as long as they are apart. If they are more than ten milliseconds apart, the
// acquisition does not wait, and fences may fall when the member whose clock is most ahead stops
// answering. A member that restarts empty changes nothing, because its clock goes on.
//
// Members whose fences are not times, such as etcd's revisions, make fences that grow only for as
// long as the same majority answers. A token that is attached while the member with the greatest
// fence is silent has a smaller fence than its hold had before, though still a greater one than
// every grant made before that hold. Fences of a quorum are greater than those of a single store:
// fences keep growing if you move from one store to a quorum, but not if you move back.
//
// # What it assumes
//
// Exclusion holds if, while a lock is held, fewer than half of the members fail, in the widest
// sense:
//
//   - A member that restarts must remember its grants, or stay away for longer than the longest
//     lease. If it restarts empty at once, two majorities are possible: two owners then hold the
//     same node until the first one's next renewal. A member with asynchronous replicas does the
//     same when it fails over.
//   - A member's clock must run at the pace of the others, but for the drift. One whose leases end
//     too soon counts as failing.
//   - A process must not act on a lock after its lease. It cannot know this for sure: it may be
//     stopped between its look at the clock and the write.
//
// Critics of Redlock (Martin Kleppmann, How to do distributed locking, 2016) conclude from the last
// two points that correctness must not depend on Redlock. Its author (Salvatore Sanfilippo, Is
// Redlock safe?, 2016) replies that the last point concerns every lock with a lease. Here safety
// depends on neither: the assertion in the database keeps the tree correct, whoever believes that
// they hold a lock. A quorum gives you order, and keeps working when a minority of your Redis
// servers fails. If you run etcd or ZooKeeper, prefer them to a quorum.
//
// # What else to know
//
//   - The order of arrival holds while the lead stays the same and a majority confirms what it
//     grants. When the lead falls silent, those who wait queue at the next member in any order.
//     When a former lead comes back, newcomers queue there, and may come before those who wait
//     elsewhere, once each.
//   - The lead finds a deadlock at once. It cannot find one that involves a hold that was made
//     while the lead was away: such waits end by their time-outs.
//   - A release that a silent member has missed blocks that member alone, until it answers or the
//     lease ends there, and so does a transfer, until the lease ends. If it is the lead, that is
//     everybody.
//   - If an owner holds something, only the members that still have that hold grant its further
//     requests. A member that has restarted empty adds nothing to a hold.
//   - An acquisition costs a call to each member, and so does a release: n times the load of one
//     store.
//   - Snapshots show what a majority has as far as those that answer can tell, and who waits
//     anywhere. While a member is silent, they may still show a hold that has just been released,
//     or a smaller fence than the grant's. The same goes for observers of an election.
//   - With Redis members, a gate is not a redislock key that other programs may take: each member
//     has one.
package quorum
