package storm

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// crowd is how many suites the clients share: few enough that they meet.
const crowd = 60

// world is the suites that all clients change.
type world struct {
	mu     sync.Mutex
	suites []int64
}

// branch returns a suite other than the root suite, and false if there is none.
func (w *world) branch(r *rand.Rand) (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.suites) < 2 {
		return 0, false
	}
	return w.suites[1+r.IntN(len(w.suites)-1)], true
}

// any returns any of the suites.
func (w *world) any(r *rand.Rand) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.suites[r.IntN(len(w.suites))]
}

// add shares a suite. In a full crowd, it takes the place of another one.
func (w *world) add(id int64, r *rand.Rand) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.suites) < crowd {
		w.suites = append(w.suites, id)
		return
	}
	// The first one is the root suite, which stays.
	w.suites[1+r.IntN(len(w.suites)-1)] = id
}

// remove forgets a deleted suite.
func (w *world) remove(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.suites, id); i > 0 {
		w.suites = slices.Delete(w.suites, i, i+1)
	}
}
