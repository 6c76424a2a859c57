package redisstore

import (
	"context"
	"slices"
	"sync"
	"time"
)

// takeBackPauses are the first and the longest pause between two tries to take something back from a
// server that does not answer.
const (
	firstTakeBackPause   = 50 * time.Millisecond
	longestTakeBackPause = 5 * time.Second
)

// takeBacks are requests that nobody waits for any more, and that the server may have granted or queued all
// the same, because its answer never came. They are taken back one after the other, until
// the server answers or their leases have ended, when there is nothing left to take back.
type takeBacks struct {
	store *Store

	// trying is held during a try.
	trying sync.Mutex

	// mu guards what follows.
	mu      sync.Mutex
	pending []takeBack
	running bool
}

type takeBack struct {
	request *request
	until   time.Time
}

// add has r taken back in the background. A command of the store is under way, so that Close waits for what begins here.
func (t *takeBacks) add(r *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, takeBack{r, time.Now().Add(r.Lease + t.store.config.timeout)})
	if !t.running {
		t.running = true
		t.store.commands.Go(t.run)
	}
}

// forget is for a request that is made again: from now on somebody waits for it.
func (t *takeBacks) forget(r *request) {
	same := func(b takeBack) bool {
		return b.request.Tree == r.Tree && b.request.Owner == r.Owner && b.request.Grant == r.Grant
	}
	t.mu.Lock()
	found := slices.ContainsFunc(t.pending, same)
	t.mu.Unlock()
	if !found {
		return
	}
	t.trying.Lock()
	defer t.trying.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = slices.DeleteFunc(t.pending, same)
}

// run takes back what there is. When the store is closed, it gets one more try, as long as the server answers.
func (t *takeBacks) run() {
	for pause := firstTakeBackPause; t.any(); {
		closed := t.store.isClosed()
		if t.try(closed) {
			pause = firstTakeBackPause
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-t.store.closing:
			timer.Stop()
		}
		pause = min(2*pause, longestTakeBackPause)
	}
}

// any reports whether there is anything to take back; if not, run is about to end.
func (t *takeBacks) any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = len(t.pending) > 0
	return t.running
}

// try takes back what is next. It reports whether that is done with, and it is if this was the last try.
func (t *takeBacks) try(last bool) bool {
	t.trying.Lock()
	defer t.trying.Unlock()
	t.mu.Lock()
	if len(t.pending) == 0 {
		t.mu.Unlock()
		return true
	}
	b := t.pending[0]
	t.mu.Unlock()

	err := t.store.withdraw(context.Background(), b.request, time.Until(b.until))
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil && last:
		t.pending = nil // the server does not answer, and there is no time to wait for it
		return true
	case err != nil && time.Now().Before(b.until):
		t.pending = append(t.pending[1:], b) // others may be on a node that does
		return false
	default:
		t.pending = t.pending[1:]
		return true
	}
}

// undo takes r out of the queue, or gives back what it was granted: nobody waits for it any more. Where that fails, it is
// tried again in the background. A command of the store is under way.
func (s *Store) undo(ctx context.Context, r *request) {
	if err := s.withdraw(ctx, r, 0); err != nil {
		s.takeBacks.add(r)
	}
}

// withdraw takes r out of the queue, or gives back what it was granted, whether ctx has ended or not. Where r may be on its way
// to the server still, the server remembers for some time that it is to grant r nothing.
func (s *Store) withdraw(ctx context.Context, r *request, remember time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.timeout)
	defer cancel()
	got, err := s.scripts.withdraw.ask(ctx, s.runner, r.keys, string(r.Owner), string(r.Grant), milliseconds(max(remember, 0)))
	if err == nil && got.status == "granted" {
		got, err = s.scripts.release.ask(ctx, s.runner, r.keys, string(r.Owner), string(r.Grant))
	}
	if err == nil && got.more() {
		// What is not handed over now, the next script that comes by hands over.
		_ = s.proceed(ctx, r.keys)
	}
	return err
}
