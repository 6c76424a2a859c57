// Package contention remembers who waited for whom. A stall is usually over when somebody looks at
// the locks, and a snapshot shows nothing of it. A [Recorder] keeps the last ones:
//
//	recorder := contention.New(store, contention.Config{})
//	defer recorder.Close()
//	locker := pathlock.New(store, pathlock.WithObserver(recorder))
//
// An [Episode] is the time during which requests of this process waited at one place of one tree,
// with those that were in their way. [Recorder.History] has the last episodes in a bounded ring,
// and sums them up by route and by place. Package admin shows them.
//
// # What it costs
//
// A request that does not wait costs one allocation. A wait below [Config.Threshold] costs two
// more, and no call of the store. While longer waits last, the recorder asks the store for a
// snapshot of their tree: at once if it has not done so within [Config.LookEvery], then after that
// time, and then at growing intervals. It asks for at most 20 snapshots a second in all, one at a
// time, on a goroutine of its own that [Recorder.Close] ends.
//
// # What it knows
//
// Who was in the way is known as of these snapshots, and time between two of them is charged to who
// was in the way at the first. If a wait has ended before its look, the error of a refused request
// still tells who it was. Otherwise the wait counts and nobody is blamed for it, so that short
// waits can sum up to more than their blockers' times. What waited in other processes is in their
// own recorders. Candidates and observers of package election are not recorded: they wait for as
// long as all is well.
package contention
