package lease

import (
	"slices"
	"sync"
	"time"
)

// longestSleep bounds the timer's sleep while anything is held, so that a host that was suspended
// soon notices. Timers stand still meanwhile, as the monotonic clock does.
const longestSleep = time.Second

// Renewer keeps the leases of one process alive, and ends those that have ended by the clock. It
// renews each at a third of its length, a shared one after a second at the latest, and those of one
// key together in one call.
//
// It consists of one list and one timer. When the timer fires, the renewals that are due get a
// goroutine each, so a store that does not answer delays nobody else. The timer looks at the whole
// list, at most every thirtieth of the shortest pause between renewals. A new lease costs next to
// nothing: nearly all end before they are due.
//
// The last removal does not stop the timer: the next lease would have to set it again, and firing
// once in vain costs less.
type Renewer[K comparable, H any] struct {
	epoch time.Time
	// ahead is how far tests have set the wall clock forward.
	ahead time.Duration
	// keyOf says which leases go together: those of an equal key.
	keyOf func(H) K
	// renew asks the store, and then calls Answered or Failed for each lease.
	renew func(*Call[K, H])
	// ended ends the holders of leases that have ended by the clock.
	ended func([]*Lease[H])

	mu     sync.Mutex
	leases []*Lease[H]
	calls  uint64 // how many were sent
	timer  *time.Timer
	fires  time.Time // when the timer fires, zero while it is not armed
}

// pause returns how long after a renewal was sent the next one is due.
func (l *Lease[H]) pause() time.Duration {
	if l.Shared {
		return min(l.length/3, longestUnseen)
	}
	return l.length / 3
}

// Call is the renewal of a batch of leases of one key, or of one lease alone.
type Call[K comparable, H any] struct {
	Key    K
	Leases []*Lease[H]
	// Lengths has how long each is to last.
	Lengths []time.Duration
	// Patience is how long to wait for an answer.
	Patience time.Duration
	// Sent is when the store was asked. renew sets it.
	Sent   time.Time
	number uint64
}

// NewRenewer returns a renewer without leases: see its fields. It calls renew on goroutines, and
// ended on that of its timer.
func NewRenewer[K comparable, H any](keyOf func(H) K, renew func(*Call[K, H]), ended func([]*Lease[H])) *Renewer[K, H] {
	return &Renewer[K, H]{epoch: time.Now(), keyOf: keyOf, renew: renew, ended: ended}
}

// Suspend makes the renewer see what a resumed host sees: only the wall clock has advanced. It is
// for tests.
func (r *Renewer[K, H]) Suspend(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ahead = d
}

// Extend notes that a lease, which may be new, is certain to last for at least length from a moment
// on. It reports whether the lease lasts, and has not ended by the clock meanwhile.
func (r *Renewer[K, H]) Extend(l *Lease[H], length time.Duration, from time.Time) (lasts bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.Fixed {
		l.length = max(l.length, length)
	}
	if l.believe(from, length) && !l.Fixed {
		l.renew = from.Add(l.pause())
	}
	r.enter(l)
	return !r.HasEnded(l)
}

// Adopt enters a shared lease that has that long left from a moment on.
func (r *Renewer[K, H]) Adopt(l *Lease[H], length, left time.Duration, from time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.length = length
	l.believe(from, left)
	if l.Fixed { // any other is due at once
		l.renew = from.Add(l.pause())
	}
	r.enter(l)
}

// Remove ends the renewal of a lease.
func (r *Renewer[K, H]) Remove(l *Lease[H]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(l)
}

// Until returns the end of a lease, as far as it is known.
func (r *Renewer[K, H]) Until(l *Lease[H]) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.Base != nil && l.Base.storedUntil.Before(l.storedUntil) {
		return l.Base.storedUntil
	}
	return l.storedUntil
}

// Expire notes that a lease has ended by the clock, whatever the answer to a renewal that is under
// way, and returns why. The timer ends the holder.
func (r *Renewer[K, H]) Expire(l *Lease[H]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.over {
		l.trustedUntil = time.Time{}
		r.reschedule(l)
	}
	return l.whyEnded()
}

// HasEnded reports whether a lease has ended by either clock.
func (r *Renewer[K, H]) HasEnded(l *Lease[H]) bool {
	now := time.Now()
	return int64(now.Sub(r.epoch)) >= l.deadline.monotonic.Load() || now.UnixNano()+int64(r.ahead) >= l.deadline.wall.Load()
}

// RenewNow makes those leases of a key due whose holders match.
func (r *Renewer[K, H]) RenewNow(key K, match func(H) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.leases {
		if r.keyOf(l.Holder) == key && match(l.Holder) {
			l.renew = time.Now()
			r.reschedule(l)
		}
	}
}

// Answered notes that a lease lasts for left from when the call was sent.
func (r *Renewer[K, H]) Answered(c *Call[K, H], l *Lease[H], left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	latest := l.call == c.number
	switch {
	case l.over || l.Fixed && !latest:
		return
	case l.Fixed:
		l.learn(c.Sent, left)
	default:
		l.believe(c.Sent, left)
	}
	l.failed = nil
	if latest {
		l.renew = c.Sent.Add(l.pause())
	}
	r.reschedule(l)
}

// Failed notes that a call failed, plans another try, and reports whether the failure is news. A
// call that was not answered in time has lasted for the pause between two tries, or longer.
func (r *Renewer[K, H]) Failed(c *Call[K, H], l *Lease[H], err error) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.over || l.call != c.number {
		return false
	}
	news = l.failed == nil
	l.failed = err
	l.renew = c.Sent.Add(l.length / 10)
	r.reschedule(l)
	return news
}

// enter lists a lease that is not listed yet, and reschedules it.
func (r *Renewer[K, H]) enter(l *Lease[H]) {
	if !l.listed && !l.over {
		l.listed, l.index = true, len(r.leases)
		r.leases = append(r.leases, l)
	}
	r.reschedule(l)
}

// drop takes a lease off the list, if it is there.
func (r *Renewer[K, H]) drop(l *Lease[H]) {
	l.over = true
	if !l.listed {
		return
	}
	last := len(r.leases) - 1
	r.leases[l.index] = r.leases[last]
	r.leases[l.index].index = l.index
	r.leases = slices.Delete(r.leases, last, last+1)
	l.listed = false
}

// reschedule sets the deadline and the timer after a lease has changed.
func (r *Renewer[K, H]) reschedule(l *Lease[H]) {
	l.deadline.set(r.epoch, l.trustedUntil)
	r.arm(l.next())
}

// arm makes the timer fire at the given time unless it fires earlier.
func (r *Renewer[K, H]) arm(at time.Time) {
	if !r.fires.IsZero() && !at.Before(r.fires) {
		return
	}
	now := time.Now()
	if latest := now.Add(longestSleep); at.After(latest) {
		at = latest
	}
	r.fires = at
	if r.timer == nil {
		r.timer = time.AfterFunc(at.Sub(now), r.tick)
		return
	}
	r.timer.Reset(at.Sub(now))
}

// tick sends the renewals that are due, ends the leases that have ended by the clock, and sets the
// timer for what is due next.
func (r *Renewer[K, H]) tick() {
	r.mu.Lock()
	now := time.Now()
	r.fires = time.Time{}
	ended := r.takeEnded()
	calls := r.takeDue(now)
	if len(r.leases) == 0 {
		r.leases = nil // an array keeps the memory of its largest size
	} else {
		r.arm(slices.MinFunc(r.leases, func(a, b *Lease[H]) int { return a.next().Compare(b.next()) }).next())
	}
	r.mu.Unlock()
	for _, c := range calls {
		go r.renew(c)
	}
	if len(ended) > 0 {
		r.ended(ended)
	}
}

// takeEnded takes off the list what has ended by the clock.
func (r *Renewer[K, H]) takeEnded() (ended []*Lease[H]) {
	for i := len(r.leases) - 1; i >= 0; i-- {
		if l := r.leases[i]; r.HasEnded(l) {
			r.drop(l)
			ended = append(ended, l)
		}
	}
	return ended
}

// takeDue returns the calls that are due. A call includes leases that will be due soon.
func (r *Renewer[K, H]) takeDue(now time.Time) (calls []*Call[K, H]) {
	batches := make(map[K]*Call[K, H])
	begin := func(key K) *Call[K, H] {
		r.calls++
		c := &Call[K, H]{Key: key, number: r.calls}
		calls = append(calls, c)
		return c
	}
	for _, l := range r.leases {
		if key := r.keyOf(l.Holder); l.isDue(now) && !l.alone() && batches[key] == nil {
			batches[key] = begin(key)
		}
	}
	for _, l := range r.leases {
		c := batches[r.keyOf(l.Holder)]
		switch {
		case l.alone() && l.isDue(now):
			c = begin(r.keyOf(l.Holder))
		case c == nil || !l.isSoon(now):
			continue
		}
		patience := l.patience(now)
		l.call, l.renew = c.number, now.Add(patience)
		c.Leases, c.Lengths = append(c.Leases, l), append(c.Lengths, l.length)
		c.Patience = max(c.Patience, patience)
	}
	return calls
}
