package redisstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// pipelined returns the pipeline of a store, which a test looks into.
func pipelined(s *Store) *lua.Pipeline {
	p := lua.NewPipeline(s.client.(*redis.Client), s.config.timeout)
	s.runner.Process = p.Process
	return p
}

// valve lets no script through that comes alone until it is opened, and no batch before those that
// came first are done.
type valve struct {
	open  chan struct{}
	left  atomic.Int32 // how many are yet to come first
	first sync.WaitGroup
	// batch sends a batch, and may do something before and after.
	batch func(send func())
}

func (v *valve) DialHook(next redis.DialHook) redis.DialHook { return next }

func (v *valve) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() != "evalsha" { // the client prepares its connections in pipelines, too
			return next(ctx, cmds)
		}
		v.first.Wait()
		var err error
		v.batch(func() { err = next(ctx, cmds) })
		return err
	}
}

func (v *valve) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" && v.left.Add(-1) >= 0 {
			<-v.open
			defer v.first.Done()
		}
		return next(ctx, cmd)
	}
}

// together has many requests, each in a tree of its own, of which all go together that are not
// among the first few, by batch. It returns their errors.
func together(t *testing.T, s *Store, reqs []pathlock.Acquisition, batch func(send func())) []error {
	t.Helper()
	p := pipelined(s)
	v := &valve{open: make(chan struct{}), batch: batch}
	v.left.Store(lua.UnderwayLimit)
	v.first.Add(lua.UnderwayLimit)
	s.client.(*redis.Client).AddHook(v)
	errs := make([]error, len(reqs))
	var work sync.WaitGroup
	for i, req := range reqs {
		work.Go(func() { _, errs[i] = s.Acquire(t.Context(), req) })
	}
	for gathered := 0; gathered < len(reqs)-lua.UnderwayLimit; runtime.Gosched() {
		_, gathered = p.Load(lua.Asking)
	}
	close(v.open)
	work.Wait()
	t.Cleanup(func() {
		// What goes on in the background is over, too.
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		requireIdle(t, p)
	})
	return errs
}

func asks(t *testing.T, n int) (reqs []pathlock.Acquisition) {
	for range n {
		reqs = append(reqs, ask(newTree(t), x("/a")))
	}
	return reqs
}

// TestScriptsForgottenTogether: scripts that are gone when a batch arrives are loaded again, and
// the batch is granted.
func TestScriptsForgottenTogether(t *testing.T) {
	server := startServer(t)
	store := closeStore(t, New(closeClient(t, redis.NewClient(&redis.Options{Addr: server.addr, ContextTimeoutEnabled: true}))))
	warm := ask(newTree(t), x("/a"))
	take(t, store, warm)
	reqs := asks(t, 40)
	flush := sync.OnceFunc(func() { server.do("SCRIPT", "FLUSH") }) // before the first batch
	for i, err := range together(t, store, reqs, func(send func()) { flush(); send() }) {
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		requireHeld(t, store, reqs[i])
		release(t, store, reqs[i])
	}
	release(t, store, warm)
}

// TestLostTogether: a connection that is lost with a batch gives every request in it an error, and
// what was granted is taken back.
func TestLostTogether(t *testing.T) {
	store, proxy := lossy(t, -1)
	store.client.(*redis.Client).Options().ContextTimeoutEnabled = true
	other, reqs := newStore(t), asks(t, 40)
	warm := ask(newTree(t), x("/a"))
	take(t, store, warm)
	var batchLost atomic.Bool
	errs := together(t, store, reqs, func(send func()) {
		if batchLost.Swap(true) { // what is taken back goes together, too
			send()
			return
		}
		proxy.lose.Store(100)
		send()
		proxy.lose.Store(0)
	})
	for i, err := range errs {
		if err != nil && !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("request %d: %v, want ErrUnavailable", i, err)
		}
	}
	if err := store.Close(context.WithoutCancel(t.Context())); err != nil { // what is to be taken back has been
		t.Fatal(err)
	}
	lost := 0
	for i, req := range reqs {
		if errs[i] != nil {
			lost++
			requireFree(t, other, req.Tree)
			continue
		}
		requireHeld(t, other, req)
		release(t, other, req)
	}
	if want := len(reqs) - lua.UnderwayLimit; lost != want {
		t.Errorf("%d requests were lost, want the batch of %d", lost, want)
	}
	release(t, other, warm)
}

// TestStorm: errors and cancelled requests lose no room, and nothing stays behind.
func TestStorm(t *testing.T) {
	store, proxy := lossy(t, -1)
	store.client.(*redis.Client).Options().ContextTimeoutEnabled = true
	p, other := pipelined(store), newStore(t)
	var work sync.WaitGroup
	var trees []pathlock.Tree
	for i := range 4 * lua.UnderwayLimit {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		tree := newTree(t)
		trees = append(trees, tree)
		work.Go(func() {
			for range 15 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(int(DefaultTimeout))))
				if rng.IntN(3) == 0 {
					time.AfterFunc(time.Duration(rng.IntN(3000))*time.Microsecond, cancel)
				}
				if rng.IntN(40) == 0 {
					proxy.lose.Add(1)
				}
				req := ask(tree, x("/a"))
				if _, err := store.Acquire(ctx, req); err == nil {
					for err = errors.New("not released"); err != nil && !errors.Is(err, pathlock.ErrNotHeld); {
						err = store.Release(context.WithoutCancel(t.Context()), tree, req.Owner, req.Grant)
					}
				}
				cancel()
			}
		})
	}
	work.Wait()
	if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	requireIdle(t, p)
	for _, tree := range trees {
		requireFree(t, other, tree)
	}
}

// requireIdle requires that no room is lost.
func requireIdle(t *testing.T, p *lua.Pipeline) {
	t.Helper()
	for _, lane := range []lua.Lane{lua.Keeping, lua.Asking} {
		if underway, waiting := p.Load(lane); underway != 0 || waiting != 0 {
			t.Errorf("lane %d: %d under way and %d waiting, want none", lane, underway, waiting)
		}
	}
}
