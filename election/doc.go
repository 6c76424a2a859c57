// Package election elects one leader among any number of processes, on any lock store of pathlock:
// for a cron job that must run on one instance only, or for the one process that may write.
//
//	e := election.New(locker, "nightly-report")
//	leadership, err := e.Campaign(ctx, "10.0.0.7:8080") // waits until it leads
//	defer leadership.Resign(ctx)
//	work(leadership.Context(), leadership.Term())
//
// Candidates lead in order of arrival. A leader leads until it resigns or until its lease ends. The
// lease is renewed in the background. If its process crashes or hangs, the next candidate leads
// within one lease of its last sign of life.
//
// # What is guaranteed
//
// The lock store names one leader at a time, and terms grow with every leader. If a leader was
// stopped past its lease, its context says so before it acts, if it looks: see
// [Leadership.Context]. It may be stopped again between that look and the act, and no lock can
// prevent that. So if a late act would do harm, pass the term along with it: the written row stores
// the term of its latest writer, and refuses smaller ones.
//
// # How it works
//
// An election is a tree in the namespace "election". The leader has two nodes of it exclusively:
// the seat, for which all candidates queue, and a node of its own with a random name. Observers
// wait for the latter with a shared lock, which is granted when the leader has gone, and stands in
// no candidate's way. So the store wakes observers, and even observers that hang neither delay an
// election nor take part in one. A leader that proclaims another value takes the seat and a new
// node with it, and then gives up the grant that it had. The node's name begins with the term.
//
// While nobody leads, there is nothing to wait for. Then observers look at the store from time to
// time: see [Election.Observe]. A candidate that waits is elected when the leader goes, so this is
// rare.
package election
