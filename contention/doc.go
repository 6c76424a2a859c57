// Package contention remembers who waited for whom. A wait is usually over when somebody looks at
// the locks, and a snapshot shows nothing of it. A [Recorder] keeps the last waits:
//
//	recorder := contention.New(store, contention.Config{})
//	defer recorder.Close()
//	locker := pathlock.New(store, pathlock.WithObserver(recorder))
//
// [Recorder.History] has the last waits of this process that lasted for [Config.Threshold], each
// with who was in its way. Package admin shows them.
//
// Who was in the way is known as of the moment at which a wait reached the threshold: the recorder
// then asks the store for a snapshot of the tree, 20 times a second at most, one at a time, on a
// goroutine of its own that [Recorder.Close] ends. The error of a refused request tells it, too.
// Waits in other processes are in their own recorders. Candidates and observers of package election
// are not recorded: they wait for as long as all is well.
package contention
