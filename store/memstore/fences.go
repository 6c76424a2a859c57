package memstore

import (
	"sync/atomic"
	"time"
)

// fences gives out the fences of all trees of a store, so that they keep growing in a tree that was
// forgotten and is used again. A fence is at least the time in microseconds since 1970, so that it
// also keeps growing when the process is started again beside a database that remembers older ones.
type fences struct {
	last atomic.Uint64
}

// next returns a fence that is greater than all before it.
func (f *fences) next(now time.Time) uint64 {
	for {
		last := f.last.Load()
		next := max(last+1, uint64(max(0, now.UnixMicro())))
		if f.last.CompareAndSwap(last, next) {
			return next
		}
	}
}
