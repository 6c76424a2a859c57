package calls

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// LongestDelay is how late a command that was left behind may come to a server that answers others:
// operating systems give up sooner what a closed connection has not delivered.
const LongestDelay = 2 * time.Minute

const (
	// firstTakeBackPause and longestTakeBackPause are the first and the longest pause between two
	// tries to take something back from a server that does not answer. What such a server has
	// before itself, it grants when it goes on: so it is asked often.
	firstTakeBackPause   = 50 * time.Millisecond
	longestTakeBackPause = time.Second
)

// takeBacks are the requests that nobody waits for any more, and that the server may have granted
// or queued all the same. Each is withdrawn, again and again, until the server answers, however
// long that takes: the lease of a request that a server has before itself begins when the server
// goes on. One answer is enough: a request that was withdrawn is granted nothing, even if it
// reaches the server later. If the answer is an error, the end of the lease is enough.
//
// A request that was never sent is not taken back. So there are no more of them than the
// connections could carry that there were when the server fell silent.
type takeBacks struct {
	caller *Caller

	mu      sync.Mutex
	pending map[Key]*takeBack
}

// takeBack is a request that is, or may have to be, taken back.
type takeBack struct {
	request *Request
	// until is when the lease has ended if the server had the request before it failed.
	until time.Time
	// lost is set if the request may still be on its way: it was not answered, or was sent more
	// than once.
	lost bool
	// added counts how often the request has failed, so that a try notices another failure
	// meanwhile.
	added int
	// busy is closed when what is under way has ended: a flight, or a try. It is nil if nothing is
	// under way.
	busy chan struct{}
}

// leave notes that the caller of f has gone. Whoever makes the same request again waits until f has
// ended.
func (t *takeBacks) leave(f *flight) {
	if f.request == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.over {
		return
	}
	f.left, f.landed = true, make(chan struct{})
	t.pending[f.request.Key] = &takeBack{request: f.request, busy: f.landed}
}

// settle ends f, whose request need not be taken back.
func (t *takeBacks) settle(f *flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.land(f) {
		delete(t.pending, f.request.Key)
	}
}

// add ends f, whose command has failed with err, and takes its request back in the background,
// unless it was never sent. It is called during a command, so that Wait waits for what begins here.
func (t *takeBacks) add(f *flight, err error) {
	if f.request == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := f.request
	left := t.land(f)
	// A script that finds no memory for its first write has done nothing.
	refused := redis.IsOOMError(err) && r.Sent.Writes()-f.before <= 1
	if refused || r.Sent.Writes() == 0 {
		if left {
			delete(t.pending, r.Key)
		}
		return
	}
	b := t.pending[r.Key]
	if b == nil {
		b = &takeBack{}
		t.pending[r.Key] = b
	}
	b.request, b.until = r, time.Now().Add(r.Lease+t.caller.config.Timeout)
	b.added++
	b.lost = b.lost || !Answered(err) || r.Sent.Writes() > r.Asked.Load()
	if b.added == 1 {
		t.caller.commands.Go(func() { t.run(b) })
	}
}

// land ends f, and reports whether its request is pending only because its caller had left.
func (t *takeBacks) land(f *flight) bool {
	f.over = true
	if !f.left {
		return false
	}
	close(f.landed)
	b := t.pending[f.request.Key]
	if b == nil || b.busy != f.landed {
		return false
	}
	b.busy = nil
	return true
}

// run takes b back. After Close, there is one more try; the rest is left to the lease.
func (t *takeBacks) run(b *takeBack) {
	for pause := firstTakeBackPause; ; pause = min(2*pause, longestTakeBackPause) {
		closed := t.caller.isClosed()
		if t.try(b) {
			return
		}
		if closed {
			t.drop(b)
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-t.caller.closing:
			timer.Stop()
		}
	}
}

// drop leaves b to the lease.
func (t *takeBacks) drop(b *takeBack) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending[b.request.Key] == b {
		delete(t.pending, b.request.Key)
	}
}

// try takes b back once, unless it has been forgotten. It reports whether that is all.
func (t *takeBacks) try(b *takeBack) bool {
	t.mu.Lock()
	if t.pending[b.request.Key] != b {
		t.mu.Unlock()
		return true
	}
	if b.busy != nil {
		t.mu.Unlock()
		return false
	}
	r, added, tried := b.request, b.added, make(chan struct{})
	var remember time.Duration
	if b.lost {
		remember = LongestDelay
	}
	b.busy = tried
	t.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), t.caller.config.Timeout)
	defer cancel()
	err := t.caller.config.Withdraw(ctx, r.Key, remember)
	t.mu.Lock()
	defer t.mu.Unlock()
	b.busy = nil
	close(tried)
	over := err == nil && b.added == added || err != nil && Answered(err) && !time.Now().Before(b.until)
	if over && t.pending[r.Key] == b {
		delete(t.pending, r.Key)
	}
	return over
}
