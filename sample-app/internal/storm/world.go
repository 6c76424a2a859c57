package storm

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// crowd is how many suites the clients change at random: few enough that they meet.
const crowd = 60

// world is what the clients know of the tree: some suites that they all change.
type world struct {
	mu     sync.Mutex
	suites []int64
}

// branch returns one of the suites but for the root suite, and false as long as there is no other.
func (w *world) branch(r *rand.Rand) (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.suites) < 2 {
		return 0, false
	}
	return w.suites[1+r.IntN(len(w.suites)-1)], true
}

// any returns one of the suites.
func (w *world) any(r *rand.Rand) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.suites[r.IntN(len(w.suites))]
}

// add makes a suite known to all, and lets another one go from a full crowd.
func (w *world) add(id int64, r *rand.Rand) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.suites) < crowd {
		w.suites = append(w.suites, id)
		return
	}
	// The first is the root suite, which stays.
	w.suites[1+r.IntN(len(w.suites)-1)] = id
}

// remove forgets a suite that is gone.
func (w *world) remove(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.suites, id); i > 0 {
		w.suites = slices.Delete(w.suites, i, i+1)
	}
}
