package pubsub

import (
	"context"
	"math/rand/v2"
	"time"
)

// How long a subscription that was lost waits before it is made again: a moment, in which the
// client learns who serves the channel now, and twice as long after each attempt that failed.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// subscription is to one channel. It is made when the first waiter begins to wait, made again
// whenever it is lost, and given up a moment after the last waiter has gone, so that a tree under
// contention does not subscribe anew for every waiter.
//
// Its fields are guarded by the listener's mu.
type subscription struct {
	listener *Listener
	channel  string
	waiters  map[*Waiter]bool
	// stop ends it; nil until it has begun.
	stop context.CancelFunc
	// idle will end it when nobody waits.
	idle *time.Timer
	// on is the connection that carries it, if any. lost is closed when it stops carrying it.
	on   *connection
	lost chan struct{}
	// established is set while the server is known to have it.
	established bool
	// pause is how long to wait before it is made again.
	pause time.Duration
}

// begin starts the subscription if that has not been done.
func (s *subscription) begin() {
	if s.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.listener.running.Go(func() { s.run(ctx) })
}

// busy keeps the subscription for a new waiter.
func (s *subscription) busy() {
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
}

// rest ends the subscription soon, unless somebody begins to wait by then.
func (s *subscription) rest() {
	if s.stop == nil {
		s.end()
		return
	}
	s.idle = time.AfterFunc(s.listener.linger, func() {
		s.listener.mu.Lock()
		defer s.listener.mu.Unlock()
		if len(s.waiters) == 0 {
			s.end()
		}
	})
}

// end ends the subscription. Whoever begins to wait from now on gets another.
func (s *subscription) end() {
	s.busy()
	if s.stop != nil {
		s.stop()
	}
	if s.listener.subscriptions[s.channel] == s {
		delete(s.listener.subscriptions, s.channel)
	}
}

// run keeps the subscription up until ctx ends.
func (s *subscription) run(ctx context.Context) {
	for {
		s.keep(ctx)
		s.listener.Relocate(ctx)
		timer := time.NewTimer(s.nextPause())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// keep makes the subscription and returns when it is lost, or could not be made, or ctx has ended.
func (s *subscription) keep(ctx context.Context) {
	node, client, err := s.listener.locate(ctx, s.channel)
	if err != nil {
		return
	}
	c, lost := s.listener.attach(s, node, client)
	defer s.listener.detach(s, c)
	if c.subscribe(ctx, s.channel) != nil {
		return
	}
	select {
	case <-lost:
	case <-ctx.Done():
	}
}

// nextPause returns how long to wait now. It is random within bounds, so that subscriptions that
// were lost together do not all come back at once.
func (s *subscription) nextPause() time.Duration {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	pause := s.pause
	s.pause = min(2*pause, lastPause)
	return pause/2 + rand.N(pause)
}

// confirm notes that the server has the subscription, and tells the waiters that messages may have
// been missed before.
func (s *subscription) confirm() {
	s.established, s.pause = true, firstPause
	for w := range s.waiters {
		select {
		case w.Again <- struct{}{}:
		default: // it has been told already
		}
	}
}

// lose notes that the subscription has to be made again.
func (s *subscription) lose() {
	if s.on != nil {
		delete(s.on.carries, s.channel)
		s.on, s.established = nil, false
		close(s.lost)
	}
}
