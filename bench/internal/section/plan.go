package section

import "time"

// Plan says how much to measure. Amounts are numbers of operations, so the load is bounded on any
// machine. Together they bound the time.
type Plan struct {
	// Rounds is the number of ratios, of which each result is the median.
	Rounds int
	// Passes is the number of a contender's turns in a round that times single operations, and
	// Batch the number of operations in a turn.
	Passes, Batch int
	// ThroughputPasses is the number of a contender's turns in a round that measures throughput,
	// and PerGoroutine the number of operations of each of the 64 goroutines in a turn.
	ThroughputPasses, PerGoroutine int
	// Held are the numbers of held locks at which the cost of one more is measured. The first is
	// the baseline.
	Held []int
	// HeldNaive are the same for the naive script, which is slower by orders of magnitude.
	HeldNaive []int
	// MemoryLocks is the number of held locks whose memory is measured, and MemoryRounds the number
	// of rounds: it hardly varies.
	MemoryLocks, MemoryRounds int
	// WakeUps is the number of timed wake-ups in a turn, and PolledWakeUps the number of those by
	// polling, which take 100 ms.
	WakeUps, PolledWakeUps int
	// Waiters is the number of processes that wait for one lock, and Drains how often they do in a
	// round.
	Waiters, Drains int
	// RivalPasses is the number of a lock store's turns in a round that compares all stores, and
	// RivalBatch the number of operations of each goroutine in a turn. RivalWakeUps is the number
	// of wake-ups of one waiter in a round. QueuedIn are the two lengths of queues. RivalWarmUp is
	// the number of operations before all that.
	RivalPasses, RivalBatch, RivalWakeUps, RivalWarmUp int
	QueuedIn                                           [2]int
	// ScriptHeld is the number of held locks while scripts are timed. ScriptCrowd is the number of
	// requests that wait, and of leases that are renewed or end.
	ScriptHeld, ScriptCrowd int
	// WaitElsewhere are the numbers of waiters in the tree of a lock that nobody else wants.
	WaitElsewhere []int
	// HeldTrees are the numbers of trees whose leases, of the length RenewLease, are renewed in
	// RenewRounds rounds. The first is the baseline.
	HeldTrees   []int
	RenewLease  time.Duration
	RenewRounds int
	// HurriedTurn is how long goroutines with deadlines run in each of HurriedRounds rounds.
	HurriedTurn   time.Duration
	HurriedRounds int
	// Tangled are the numbers of owners who hold something and wait for each other, in SearchRounds
	// rounds of requests among them.
	Tangled      []int
	SearchRounds int
	// Line are the numbers of those who wait for one leaf in the memory store, of whom one gives
	// up; the first is the baseline.
	Line []int
	// LocalPasses is how many turns a contender of this process has in a round, and LocalBatch how
	// many operations are timed together in a turn.
	LocalPasses, LocalBatch int
	// Descendants are the sizes of the subtrees that are renamed, and RenamePasses how many turns a
	// contender has in a round, each of which renames there and back.
	Descendants  []int
	RenamePasses int
	// MovedAtOnce are the numbers of rows that are moved by one statement while its statements are
	// counted.
	MovedAtOnce []int
	// HTTPRounds is how many times testing.Benchmark is asked, which takes a second or two each
	// time.
	HTTPRounds int
	// Leaves is how many leaves the plan has that HTTP clients change, and ChangeTurn how long a
	// contender's turn is: the one measurement that is bounded by time, since it counts what is
	// done meanwhile.
	Leaves     int
	ChangeTurn time.Duration
}

// WithRounds returns the plan with another number of rounds. Memory, which hardly varies, keeps its
// own.
func (p Plan) WithRounds(n int) Plan {
	p.Rounds, p.HTTPRounds = n, n
	return p
}

// Full is what the targets are judged by.
func Full() Plan {
	return Plan{
		Rounds: 7, Passes: 20, Batch: 25, ThroughputPasses: 4, PerGoroutine: 25,
		Held: []int{10, 10_000, 100_000}, HeldNaive: []int{10, 1_000},
		MemoryLocks: 10_000, MemoryRounds: 3,
		WakeUps: 20, PolledWakeUps: 8, Waiters: 50, Drains: 5, ScriptHeld: 10_000, ScriptCrowd: 500, WaitElsewhere: []int{1, 10, 100},
		RivalPasses: 3, RivalBatch: 10, RivalWakeUps: 3, RivalWarmUp: 700, QueuedIn: [2]int{10, 50},
		HeldTrees: []int{100, 1_000, 10_000}, RenewLease: 6 * time.Second, RenewRounds: 3,
		HurriedTurn: 4500 * time.Millisecond, HurriedRounds: 3,
		Tangled: []int{100, 400}, SearchRounds: 3, Line: []int{100, 10_000},
		LocalPasses: 20, LocalBatch: 2_000, HTTPRounds: 7,
		Descendants: []int{10_000, 100_000}, RenamePasses: 2,
		MovedAtOnce: []int{1, 10, 100},
		Leaves:      384, ChangeTurn: 1500 * time.Millisecond,
	}
}

// Quick shows within a minute or so that everything works. Its numbers are not to be relied upon.
func Quick() Plan {
	return Plan{
		Rounds: 3, Passes: 4, Batch: 10, ThroughputPasses: 1, PerGoroutine: 5,
		Held: []int{10, 2_000}, HeldNaive: []int{10, 200},
		MemoryLocks: 1_000, MemoryRounds: 1,
		WakeUps: 5, PolledWakeUps: 2, Waiters: 10, Drains: 1, ScriptHeld: 1_000, ScriptCrowd: 50, WaitElsewhere: []int{1, 10},
		RivalPasses: 1, RivalBatch: 3, RivalWakeUps: 1, RivalWarmUp: 3, QueuedIn: [2]int{4, 8},
		HeldTrees: []int{10, 200}, RenewLease: 1200 * time.Millisecond, RenewRounds: 1,
		HurriedTurn: time.Second, HurriedRounds: 1,
		Tangled: []int{10, 40}, SearchRounds: 1, Line: []int{10, 100},
		LocalPasses: 5, LocalBatch: 500, HTTPRounds: 1,
		Descendants: []int{500}, RenamePasses: 1,
		MovedAtOnce: []int{1, 10},
		Leaves:      48, ChangeTurn: 200 * time.Millisecond,
	}
}
