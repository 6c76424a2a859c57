package simulation

import (
	"context"
	"fmt"
	"time"
)

// disturb has something go wrong.
func (w *world) disturb(n int) {
	w.mu.Lock()
	w.faults++
	at := w.random.IntN(len(w.instances))
	i := w.instances[at]
	w.mu.Unlock()
	most := 8
	if w.kind == lossy {
		most = 12
	}
	took := time.Duration(w.random.ExpFloat64() * float64(w.lease))
	what := w.random.IntN(most)
	w.note("fault %d at %s, for %v", what, i.name, took)
	switch what {
	case 0, 1:
		i.network.cut()
	case 2, 3:
		i.network.stall(took)
	case 4: // a short break, in which what is under way is lost
		i.network.stall(took / 10)
		i.network.cut()
	case 5: // the server stops, and goes on
		for _, i := range w.instances {
			i.network.stall(took)
		}
	case 6: // a server without scripts knows those of before
		if redis, ok := w.server.(redisServer); ok {
			redis.ForgetScripts()
		}
	case 7:
		w.crash(at, n)
	case 8: // a restart without a file
		w.server.forget()
		// A renewal that meets a broken connection is repeated after a tenth of the lease.
		faults, renewed := w.faults, w.lease/3+w.lease/10+timeout
		w.forgot(w.lease, renewed+grace, func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.faults == faults && w.fault.Before(time.Now().Add(-renewed))
		})
		for _, i := range w.instances {
			i.network.cut()
		}
	case 9: // a replica that is behind becomes the primary
		before := w.server.remember()
		time.Sleep(took)
		before()
		for _, i := range w.instances {
			i.network.cut()
		}
	default:
		w.jump(time.Duration(w.random.NormFloat64() * float64(w.lease)))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if what > 5 {
		took = 0
	}
	if end := time.Now().Add(took); end.After(w.fault) {
		w.fault = end
	}
}

// crash ends an instance without a word, and starts another one in its place.
func (w *world) crash(at, n int) {
	i := w.instances[at]
	i.network.end()
	i.crash()
	w.mu.Lock()
	w.gone[i.name] = time.Now()
	w.instances = append(w.instances[:at:at], w.instances[at+1:]...)
	w.mu.Unlock()
	w.workers.Go(i.stop)
	w.workers.Go(func() { // what it left ends just before
		time.Sleep(w.leased() + 200*time.Millisecond)
		w.inspect()
	})
	w.start(fmt.Sprint("i", n))
}

// inspect has the oracle look at what the server has, which it asks by itself.
func (w *world) inspect() {
	for _, tree := range trees {
		believed := w.believed()
		snapshot, err := w.looks.Snapshot(context.Background(), tree)
		if err != nil {
			w.failf("the server does not answer: %v", err)
			return
		}
		// If there was no fault since, everything that ended before then is gone.
		healthySince := func(d time.Duration) time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			if since := time.Now().Add(-d); w.kind != lossy && !w.fault.After(since) {
				return since
			}
			return time.Time{}
		}
		calls := healthySince(timeout + 5*time.Second)
		scopes := calls
		if w.kind != quiet { // what could not be released ends with its lease
			scopes = healthySince(timeout + 5*time.Second + w.leased())
		}
		if w.small { // a withdrawal may be lost
			calls = scopes
		}
		gone := func(name string) (gone, over bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			at, gone := w.gone[name]
			return gone, gone && w.kind != lossy && time.Since(at) > w.leased()+100*time.Millisecond
		}
		w.outlive(believed, snapshot, w.trueTime)
		w.look(snapshot, gone, calls, scopes)
	}
}
