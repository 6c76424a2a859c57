// Package contention remembers who waited for whom. A wait is usually over when somebody looks at
// the locks, and a snapshot shows nothing of it. A [Recorder] keeps the last waits:
//
//	recorder := contention.New(store, contention.Config{})
//	defer recorder.Close()
//	locker := pathlock.New(store, pathlock.WithObserver(recorder))
//
// [Recorder.History] returns the last waits of this process that took at least [Config.Threshold],
// each with who blocked it. Package admin shows them.
//
// When a wait reaches the threshold, the recorder asks the store for a snapshot of the tree to
// learn who blocks it. It does so at most 20 times a second, one at a time, on a goroutine of its
// own that [Recorder.Close] ends. The error of a refused request also says who blocked it. Waits in
// other processes are in their own recorders. The recorder leaves out candidates and observers of
// package election, which wait for as long as all is well.
package contention
