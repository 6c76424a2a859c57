package sqlstore

import (
	"context"
	"sync"
)

// work owns the goroutines of a store.
type work struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func newWork() *work {
	w := &work{}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// start runs a function until it returns. Its context ends when the store is closed. It reports
// whether the store is open.
func (w *work) start(run func(context.Context)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.running.Go(func() { run(w.ctx) })
	return true
}

// close ends all of them.
func (w *work) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	w.running.Wait()
}
