package quorum

import (
	"context"
	"time"

	"github.com/pathlock-go/pathlock"
)

// ask is one question of a request to one member. The request says in the end whether the member is
// to keep what it has granted.
type ask struct {
	member *member
	cancel context.CancelFunc
	// answer gets the answer, and queued is told when the request is in the member's queue.
	answer <-chan grant
	queued chan struct{}
	// keep gets what the request says. ended is closed when nothing is left but what is kept.
	keep  chan bool
	ended chan struct{}
}

// ask asks a member to grant the request within a time. held says whether the member must already
// hold something of the owner's.
func (r *request) ask(m *member, wait time.Duration, held bool, answers chan grant) *ask {
	ctx, cancel := context.WithCancel(r.ctx)
	a := &ask{m, cancel, answers, make(chan struct{}, 1), make(chan bool, 1), make(chan struct{})}
	r.asks = append(r.asks, a)
	acquisition := r.Acquisition
	acquisition.Held, acquisition.Wait, acquisition.Lease, acquisition.Spent = held, wait, drifted(r.Lease), 0
	acquisition.Waiting = func() {
		select {
		case a.queued <- struct{}{}:
		default:
		}
	}
	end := m.ask(r.key)
	r.store.running.Go(func() {
		defer close(a.ended)
		defer end()
		asked := time.Now()
		got, err := m.store.Acquire(ctx, acquisition)
		if got.Asked.IsZero() {
			got.Asked = asked
		}
		answers <- grant{m, got, err, time.Now()}
		// A grant that may exist although no answer came is given back, too. The attempt shows
		// whether the member has failed, or only refuses to grant, like a Redis that is out of
		// memory: such a member still renews and releases.
		if keep := <-a.keep; err == nil && !keep || !isAnswer(err) {
			m.giveBackOrLater(r.key)
		}
	})
	return a
}

// await returns the lead's answer, or why it has fallen silent. While the request is queued, the
// member is watched.
func (r *request) await(a *ask) grant {
	late := time.NewTimer(r.patience())
	defer late.Stop()
	done := r.ctx.Done()
	for {
		select {
		case got := <-a.answer:
			return got
		case <-a.queued:
			late.Reset(min(r.remaining()+r.store.config.timeout, time.Until(r.until)))
			a.member.queue(1)
			defer a.member.queue(-1)
			r.announce()
		case <-a.member.lost():
			return grant{member: a.member, err: errTimeout}
		case <-done: // the member has the time-out to say so
			done = nil
			late.Reset(r.patience())
		case <-late.C:
			r.noteSilent(a.member)
			return grant{member: a.member, err: errTimeout}
		}
	}
}

// settle makes members keep what is granted, and give back everything else of the latest try. It
// returns when that is done. Members that do not answer are told later.
func (r *request) settle(granted grants) {
	for _, a := range r.asks {
		keep := granted.of(a.member)
		if !keep {
			a.cancel()
		}
		a.keep <- keep
	}
	late := time.NewTimer(r.patience())
	defer late.Stop()
	for _, a := range r.asks {
		select {
		case <-a.ended:
			continue
		default:
		}
		select {
		case <-a.ended:
		case <-a.member.lost():
		case <-r.store.life.Done():
		case <-late.C:
			late.Reset(0) // for the next one
			r.noteSilent(a.member)
		}
	}
	r.asks = nil
}

// allowance returns by how much clocks may differ after a time: by 50 millionths, which is what
// quartz clocks do, and by two milliseconds at least, since members may keep time in those.
func allowance(d time.Duration) time.Duration { return max(2*time.Millisecond, d/20_000) }

// drifted returns the lease that members are asked for, so that it lasts for as long as was asked
// for by this process's clock.
func drifted(lease time.Duration) time.Duration {
	if lease <= 0 || lease >= pathlock.Forever {
		return min(lease, pathlock.Forever)
	}
	return lease + allowance(lease)
}

// undrifted returns how much of a lease that members have is certain.
func undrifted(left time.Duration) time.Duration { return max(0, left-allowance(left)) }
