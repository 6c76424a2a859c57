package election

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// soonest and latest bound the pause between two looks at a store that wakes nobody.
	soonest = 50 * time.Millisecond
	latest  = time.Second
)

// pace is how often an observer looks at a store that has nothing to wait for. The zero pace begins
// with the shortest pause.
type pace struct{ next time.Duration }

// reset begins with the shortest pause again.
func (p *pace) reset() { p.next = 0 }

// pause waits before the next look, each time for longer. Observers that began together soon look
// at different times.
func (p *pace) pause(ctx context.Context) {
	p.next = min(max(2*p.next, soonest), latest)
	timer := time.NewTimer(p.next/2 + rand.N(p.next/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
