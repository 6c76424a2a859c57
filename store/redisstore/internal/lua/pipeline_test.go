package lua

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// counter stands for a server, behind a hook: what arrives is answered when the test says so.
type counter struct {
	mu      sync.Mutex
	arrived []*sending
}

// sending is a command that came alone, or a pipeline.
type sending struct {
	cmds     []redis.Cmder
	piped    bool
	deadline time.Time
	served   chan struct{}
}

// names returns what the commands are called.
func (s *sending) names() (names []string) {
	for _, cmd := range s.cmds {
		names = append(names, cmd.Args()[1].(string))
	}
	return names
}

func (c *counter) serve(ctx context.Context, cmds []redis.Cmder, piped bool) error {
	s := &sending{cmds: cmds, piped: piped, served: make(chan struct{})}
	s.deadline, _ = ctx.Deadline()
	c.mu.Lock()
	c.arrived = append(c.arrived, s)
	c.mu.Unlock()
	<-s.served
	var first error
	for _, cmd := range cmds {
		// The server repeats what it is told, or refuses it.
		name := cmd.Args()[1].(string)
		if refused := name[0] == '!'; refused {
			cmd.SetErr(errors.New(name))
			if first == nil {
				first = cmd.Err()
			}
			continue
		}
		cmd.(*redis.Cmd).SetVal(name)
	}
	return first
}

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return c.serve(ctx, []redis.Cmder{cmd}, false) }
}

func (c *counter) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return c.serve(ctx, cmds, true) }
}

// bench is a pipeline whose server is a counter.
type bench struct {
	t        *testing.T
	server   *counter
	pipeline *Pipeline
	work     sync.WaitGroup
}

const benchTimeout = 3 * time.Second

// startBench is for bubbles of synctest.
func startBench(t *testing.T) *bench {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ContextTimeoutEnabled: true})
	b := &bench{t: t, server: &counter{}, pipeline: NewPipeline(client, benchTimeout)}
	client.AddHook(b.server)
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// send sends a command that has so long, for ever if that is 0, and requires that its reply is its
// own.
func (b *bench) send(name string, within time.Duration) {
	b.sendIn(Asking, name, within)
}

// sendIn is send for a lane.
func (b *bench) sendIn(lane Lane, name string, within time.Duration) {
	ctx, cancel := context.Background(), func() {}
	if within > 0 {
		ctx, cancel = context.WithTimeout(ctx, within)
	}
	b.work.Go(func() {
		defer cancel()
		cmd := redis.NewCmd(ctx, "echo", name)
		err := b.pipeline.Process(ctx, lane, cmd)
		if name[0] == '!' {
			if err == nil || err.Error() != name {
				b.t.Errorf("%s: error %v, want its own", name, err)
			}
			return
		}
		if got, _ := cmd.Text(); err != nil || got != name {
			b.t.Errorf("%s: reply %q, error %v", name, got, err)
		}
	})
	synctest.Wait() // so that the order in which they come is known
}

// arrived returns what is on the server, and has not been served.
func (b *bench) arrived() []*sending {
	synctest.Wait()
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	return slices.Clone(b.server.arrived)
}

// serve answers what came as number i of those that have not been served.
func (b *bench) serve(i int) {
	b.server.mu.Lock()
	s := b.server.arrived[i]
	b.server.arrived = slices.Delete(b.server.arrived, i, i+1)
	b.server.mu.Unlock()
	close(s.served)
	synctest.Wait()
}

// fill sends as many commands as may be under way.
func (b *bench) fill() {
	for i := range UnderwayLimit {
		b.send(fmt.Sprint("first ", i), benchTimeout)
	}
}

// end serves everything, and requires that nothing is left.
func (b *bench) end() {
	for len(b.arrived()) > 0 {
		b.serve(0)
	}
	b.work.Wait()
	requireIdle(b.t, b.pipeline)
}

// requireIdle requires that no room is lost.
func requireIdle(t *testing.T, p *Pipeline) {
	t.Helper()
	for lane := range lanes {
		if underway, waiting := p.Load(lane); underway != 0 || waiting != 0 {
			t.Errorf("lane %d: %d under way and %d waiting, want none", lane, underway, waiting)
		}
	}
}

// inBubble runs a test whose goroutines are known to wait.
func inBubble(t *testing.T, do func(*bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := startBench(t)
		do(b)
		b.end()
	})
}

// TestAlone: as long as no more are under way than may be, every command is sent at once, by
// itself.
func TestAlone(t *testing.T) {
	inBubble(t, func(b *bench) {
		for round := range 3 {
			b.fill()
			if n := len(b.arrived()); n != UnderwayLimit {
				t.Fatalf("round %d: %d have been sent, want all %d", round, n, UnderwayLimit)
			}
			for _, s := range b.arrived() {
				if s.piped {
					t.Errorf("round %d: %v came in a pipeline", round, s.names())
				}
				b.serve(0)
			}
		}
	})
}

// TestGathered: those that come while as many as may be are under way gather, and go together, in
// order of arrival.
func TestGathered(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fill()
		var want []string
		for i := range batchLimit + 10 {
			name := fmt.Sprint("later ", i)
			if i%7 == 3 {
				name = "!" + name
			}
			want = append(want, name)
			b.send(name, benchTimeout)
		}
		if n := len(b.arrived()); n != UnderwayLimit {
			t.Fatalf("%d have been sent, want %d at most", n, UnderwayLimit)
		}
		for _, part := range [][]string{want[:batchLimit], want[batchLimit:]} {
			b.serve(0)
			all := b.arrived()
			if len(all) != UnderwayLimit {
				t.Fatalf("%d under way, want the next in the place of the one that is over", len(all))
			}
			if last := all[len(all)-1]; !last.piped || !slices.Equal(last.names(), part) {
				t.Errorf("sent %v, in a pipeline: %v; want %v together", last.names(), last.piped, part)
			}
		}
		b.serve(0)
		if n := len(b.arrived()); n != UnderwayLimit-1 {
			t.Errorf("%d under way when nobody waits, want %d", n, UnderwayLimit-1)
		}
	})
}

// TestGatheredOne: one that has gathered alone needs no pipeline.
func TestGatheredOne(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fill()
		b.send("later", benchTimeout)
		b.serve(0)
		all := b.arrived()
		if last := all[len(all)-1]; last.piped || !slices.Equal(last.names(), []string{"later"}) {
			t.Errorf("sent %v, in a pipeline: %v; want one command alone", last.names(), last.piped)
		}
	})
}

// TestLanes: what keeps or gives back waits for no acquisition, and the other way round.
func TestLanes(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fill()
		b.send("later", benchTimeout)
		for i := range UnderwayLimit {
			b.sendIn(Keeping, fmt.Sprint("release ", i), benchTimeout)
		}
		b.sendIn(Keeping, "last release", benchTimeout)
		all := b.arrived()
		if len(all) != 2*UnderwayLimit {
			t.Fatalf("%d have been sent, want %d of each lane", len(all), UnderwayLimit)
		}
		for i, s := range all[UnderwayLimit:] {
			if want := fmt.Sprint("release ", i); s.names()[0] != want {
				t.Errorf("sent %v, want %s", s.names(), want)
			}
		}
		b.serve(UnderwayLimit) // a release
		all = b.arrived()
		if last := all[len(all)-1]; !slices.Equal(last.names(), []string{"last release"}) {
			t.Errorf("sent %v in the place of a release, want the next of them", last.names())
		}
	})
}

// TestLeavesRoom: a command whose time is up while it waits for room is not sent, whatever is under
// way.
func TestLeavesRoom(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fill()
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		b.work.Go(func() {
			err := b.pipeline.Process(ctx, Asking, redis.NewCmd(ctx, "echo", "in vain"))
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%v after %v, want the deadline", err, time.Since(began))
			}
		})
		cancelled, leave := context.WithCancel(context.Background())
		b.work.Go(func() {
			err := b.pipeline.Process(cancelled, Asking, redis.NewCmd(ctx, "echo", "cancelled"))
			if !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
				t.Errorf("%v after %v, want the cancellation at once", err, time.Since(began))
			}
		})
		synctest.Wait()
		leave()
		b.send("in time", benchTimeout)
		time.Sleep(2 * time.Second)
		b.serve(0)
		all := b.arrived()
		if last := all[len(all)-1]; !slices.Equal(last.names(), []string{"in time"}) {
			t.Errorf("sent %v, want what somebody waits for", last.names())
		}
	})
}

// TestHaste: commands with little time wait in line as all others do, and are served as others are:
// they neither starve those that gather nor are starved.
func TestHaste(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fill()
		var want []string
		for i := range 10 {
			name, within := fmt.Sprint("hasty ", i), 100*time.Millisecond
			if i%2 == 1 {
				name, within = fmt.Sprint("calm ", i), benchTimeout
			}
			want = append(want, name)
			b.send(name, within)
		}
		if n := len(b.arrived()); n != UnderwayLimit {
			t.Fatalf("%d have been sent, want %d at most", n, UnderwayLimit)
		}
		b.serve(0)
		all := b.arrived()
		if last := all[len(all)-1]; !slices.Equal(last.names(), want) {
			t.Errorf("sent %v, want all in order of arrival", last.names())
		}
	})
}

// TestLatestOfBatch: a batch has until the last of its deadlines.
func TestLatestOfBatch(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fill()
		latest := time.Now().Add(benchTimeout)
		b.send("sooner", benchTimeout-2*time.Millisecond)
		b.send("latest", benchTimeout)
		b.send("soon", benchTimeout-time.Millisecond)
		b.serve(0)
		all := b.arrived()
		if last := all[len(all)-1]; len(last.cmds) != 3 || !last.deadline.Equal(latest) {
			t.Errorf("%v have until %v, want %v", last.names(), last.deadline, latest)
		}
	})
}
