// Package simulation runs instances of the real code in one process and in virtual time: lockers,
// and the middleware, on real stores, whose real client talks to a small Redis with the real
// scripts, over a network that delays, stalls and cuts; instances crash, the server stops, forgets,
// falls back, or has a clock that goes its own way. All of a world follows from its seed.
package simulation

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/proof/simredis"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// The store's time-out, as redisstore has it by default, and what it does after that to leave
// everything in order.
const (
	timeout = 3 * time.Second
	grace   = 500 * time.Millisecond
)

// kind is what may happen in a world.
type kind int

const (
	quiet  kind = iota // nothing but delays: a wake-up takes no longer than the network
	faulty             // instances and networks fail, and the server stops; what was granted counts
	lossy              // the server forgets, or its clock jumps: leases may end early
)

func (k kind) String() string { return [...]string{"quiet", "faulty", "lossy"}[k] }

// servers are those that a world may have.
type servers int

const (
	redisOrTickets servers = iota
	redisAlone
	ticketsAlone
	memoryAlone
)

// world is one run.
type world struct {
	*testing.T
	oracle
	seed   uint64
	kind   kind
	small  bool // on package memstore
	lease  time.Duration
	server server
	looks  pathlock.Store // the oracle's
	// prompt is how soon a waiter learns of its grant where nothing fails.
	prompt time.Duration
	epoch  time.Time
	ends   time.Time
	random *rand.Rand // of the faults

	// The server's clock: what it showed at a moment, and how fast it goes.
	clock     sync.Mutex
	at, shows time.Time
	rate      float64

	mu        sync.Mutex
	instances []*instance
	gone      map[string]time.Time // when an instance was gone
	fault     time.Time            // the end of the last fault
	history   []string
	trace     uint64
	calls     int
	faults    int
	tokens    []*token
	forced    map[int]bool // those from whom somebody took everything
	stopped   chan struct{}
	workers   sync.WaitGroup
}

// instance is one process.
type instance struct {
	*world
	name    string
	network *network
	locker  *pathlock.Locker
	engine  *gin.Engine
	wait    time.Duration // of its requests
	// degrades says that it goes on without the server.
	degrades bool
	store    pathlock.Store
	end      func()
	dead     context.Context
	crash    context.CancelFunc
}

// newWorld returns the world of a seed: on one of the servers, of one of the kinds.
func newWorld(t *testing.T, seed uint64, on servers, kinds ...kind) *world {
	r := rand.New(rand.NewPCG(seed, 1))
	onRedis := on == redisAlone || on == redisOrTickets && r.IntN(2) == 0
	// Whoever loses its updates to faster instances may need two seconds to get its turn.
	leases := []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute, time.Hour}
	if onRedis { // an hour of a subscription has a thousand pings
		leases = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute}
	}
	if on == memoryAlone { // the lockers' clock ticks every second
		leases = []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}
	}
	w := &world{
		T: t, seed: seed, kind: kinds[r.IntN(len(kinds))], random: r, epoch: time.Now(), gone: make(map[string]time.Time), forced: make(map[int]bool),
		lease: leases[r.IntN(len(leases))], stopped: make(chan struct{}), rate: 1, small: on == memoryAlone,
	}
	w.ends = w.epoch.Add(200 * w.lease)
	if w.small {
		w.ends = w.epoch.Add(20 * w.lease)
	}
	w.at, w.shows = w.epoch, w.epoch
	w.oracle = oracle{fail: w.failf, lossy: w.kind == lossy, granted: w.fenceTime, fences: make(map[pathlock.Tree]uint64), finished: make(map[string]time.Time), grantees: make(map[grantee]int), revoked: make(map[int]bool), refreshed: make(map[int]bool), kept: make(map[string]bool)}
	if w.kind == faulty && !w.small {
		w.rate = 1 - r.Float64()/50 // leases last longer on the server than they should
	}
	switch {
	case w.small:
		w.server, w.prompt = &memoryServer{now: memstore.New(), local: w.kind == quiet && r.IntN(3) == 0}, 100*time.Millisecond
	case onRedis:
		redis := simredis.New()
		redis.Clock = w.serverTime
		w.server, w.prompt = redisServer{redis}, 100*time.Millisecond
	default: // an update that loses to a faster one is repeated
		w.server, w.prompt = newTicketServer(w.serverTime), time.Second
	}
	return w
}

// newID returns a number that nobody has.
func (w *world) newID() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	return w.calls
}

// failf fails the test with what has happened before.
func (w *world) failf(format string, args ...any) {
	w.Helper()
	if w.Failed() {
		return
	}
	for _, line := range w.history[max(0, len(w.history)-40):] {
		w.Log(line)
	}
	w.Errorf("seed %d, %s, lease %v, after %v: %s", w.seed, w.kind, w.lease, time.Since(w.epoch), fmt.Sprintf(format, args...))
}

// note remembers something that happened.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%12v  ", time.Since(w.epoch)) + fmt.Sprintf(format, args...)
	w.history = append(w.history, line)
	if len(w.history) > 4000 {
		w.history = w.history[2000:]
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, line) // it never fails
	w.trace += h.Sum64()
}

func (w *world) serverTime() time.Time {
	w.clock.Lock()
	defer w.clock.Unlock()
	return w.shows.Add(time.Duration(float64(time.Since(w.at)) * w.rate))
}

// fenceTime returns when the server gave out a fence.
func (w *world) fenceTime(tree pathlock.Tree, fence uint64) time.Time {
	return w.trueTime(w.server.granted(tree, fence))
}

// trueTime undoes serverTime.
func (w *world) trueTime(shown time.Time) time.Time {
	w.clock.Lock()
	defer w.clock.Unlock()
	return w.at.Add(time.Duration(float64(shown.Sub(w.shows)) / w.rate))
}

// jump sets the server's clock forward or back.
func (w *world) jump(d time.Duration) {
	now := w.serverTime()
	w.clock.Lock()
	defer w.clock.Unlock()
	w.at, w.shows = time.Now(), now.Add(d)
}

// leased is how long a lease lasts on the server.
func (w *world) leased() time.Duration { return time.Duration(float64(w.lease) / w.rate) }

// start starts an instance.
func (w *world) start(name string) {
	n := &network{random: rand.New(rand.NewPCG(w.random.Uint64(), 2)), delay: time.Duration(1+w.random.IntN(20)) * time.Millisecond, breaks: w.kind != quiet}
	i := &instance{world: w, name: name, network: n}
	i.store, i.end = w.server.open(n)
	used := i.store
	if i.degrades = w.kind != quiet && w.random.IntN(4) == 0; i.degrades {
		used = pathlock.Degrade(used, pathlock.Degradation{Limit: w.lease, Log: slog.New(slog.DiscardHandler)})
	}
	i.locker = pathlock.New(used, pathlock.WithLease(w.lease), pathlock.WithInstance(name), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	i.wait = time.Duration(w.random.ExpFloat64()*float64(w.lease)).Truncate(time.Microsecond) + 1
	i.engine = i.newEngine()
	i.dead, i.crash = context.WithCancel(context.Background())
	w.mu.Lock()
	w.instances = append(w.instances, i)
	w.mu.Unlock()
	for worker := range 3 {
		c := &caller{instance: i, random: rand.New(rand.NewPCG(w.random.Uint64(), 3)), name: fmt.Sprintf("%s.%d", name, worker)}
		w.workers.Go(c.run)
	}
}

// run lets the world go on until its end.
func (w *world) run() {
	instances := 3
	if w.small {
		instances = 2
	}
	looks, end := w.server.open(nearby())
	w.looks = looks
	for n := range instances {
		w.start(fmt.Sprint("i", n))
	}
	for n := 3; time.Now().Before(w.ends); n++ {
		time.Sleep(time.Duration(w.random.ExpFloat64() / 2 * float64(w.lease)))
		if w.kind != quiet && n%4 == 0 {
			w.disturb(n)
		}
		w.inspect()
	}
	close(w.stopped)
	for _, i := range w.instances {
		i.network.stall(0)
	}
	w.workers.Wait()
	time.Sleep(timeout + 10*time.Second)
	w.inspect()
	_ = looks.Close(context.Background())
	end()
	for _, i := range w.instances {
		i.stop()
	}
	time.Sleep(time.Hour + w.leased()) // for what goes on behind, and what is detached
	for _, key := range w.server.left() {
		if w.kind != lossy && !strings.HasSuffix(key, ":fence") {
			w.failf("an hour later, there is %s", key)
		}
	}
}

// stop ends an instance in good order.
func (i *instance) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = i.locker.Shutdown(ctx)
	_ = i.store.Close(ctx)
	i.end()
	i.crash()
	i.network.cut()
}
