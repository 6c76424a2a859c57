package redisstore

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// deaf stands for a server: it notes when it is asked to withdraw what, and answers as the test says. Time is the bubble's.
type deaf struct {
	store *Store

	mu sync.Mutex
	// answer is what the server says to a withdrawal, nil for nothing but an error.
	answer func(id pathlock.GrantID) []any

	all      []try
	released []string
}

func (d *deaf) answers(with func(id pathlock.GrantID) []any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer = with
}

// tries returns what has been tried so far.
func (d *deaf) tries() []try {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all)
}

type try struct {
	id pathlock.GrantID
	at time.Duration // since the beginning
}

var errDeaf = io.ErrUnexpectedEOF

// startDeaf returns a store that has only the deaf server.
func startDeaf(t *testing.T, opts ...Option) *deaf {
	d := &deaf{store: New(redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ContextTimeoutEnabled: true}), opts...)}
	t.Cleanup(func() {
		if err := errors.Join(d.store.Close(), d.store.client.Close()); err != nil {
			t.Error(err)
		}
	})
	began := time.Now()
	d.store.runner.process = func(_ context.Context, cmd redis.Cmder) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		last := cmd.Args()[len(cmd.Args())-1].(string)
		switch cmd.Args()[1] {
		case d.store.scripts.withdraw.sha:
			d.all = append(d.all, try{pathlock.GrantID(last), time.Since(began)})
			if d.answer != nil {
				if answer := d.answer(pathlock.GrantID(last)); answer != nil {
					cmd.(*redis.Cmd).SetVal(answer)
					return nil
				}
			}
		case d.store.scripts.release.sha:
			d.released = append(d.released, last)
			cmd.(*redis.Cmd).SetVal(int64(1))
			return nil
		}
		cmd.SetErr(errDeaf)
		return errDeaf
	}
	return d
}

// add has a request taken back that failed just now.
func (d *deaf) add(id pathlock.GrantID, lease time.Duration) *request {
	r := &request{Acquisition: pathlock.Acquisition{Owner: "owner", Grant: id, Lease: lease}}
	d.store.takeBacks.add(r)
	return r
}

// last returns what has been tried last.
func (d *deaf) last() try {
	all := d.tries()
	return all[len(all)-1]
}

// idle reports whether nothing is to be taken back, and nobody tries.
func (d *deaf) idle() bool {
	t := &d.store.takeBacks
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.running && len(t.pending) == 0
}

func absent(pathlock.GrantID) []any { return []any{"absent", "0"} }

// TestTakeBackPauses: a server that does not answer is asked again in pauses that grow, until the lease has ended.
func TestTakeBackPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout, lease = 3 * time.Second, time.Minute
		d := startDeaf(t, WithTimeout(timeout))
		d.add("lost", lease)
		time.Sleep(10 * lease)
		synctest.Wait()

		at, pause := time.Duration(0), 50*time.Millisecond
		for i, try := range d.tries() {
			if try.at != at {
				t.Errorf("try %d after %v, want it after %v", i, try.at, at)
			}
			at, pause = at+pause, min(2*pause, 5*time.Second)
		}
		// One that fails before the end is followed by one more.
		if last := d.last().at; last < lease || last > lease+timeout+longestTakeBackPause {
			t.Errorf("the last try was after %v, with a lease of %v", last, lease)
		}
		if !d.idle() {
			t.Error("it is still tried, long after the lease has ended")
		}
	})
}

// TestTakeBackAnswered: what the server answers is done with, and what it granted is given back.
func TestTakeBackAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		for _, id := range []pathlock.GrantID{"queued", "granted", "unknown"} {
			d.add(id, time.Minute)
		}
		answers := map[pathlock.GrantID][]any{
			"queued": {"withdrawn", "0"}, "granted": {"granted", "0", "77"}, "unknown": {"absent", "0"},
		}
		time.Sleep(time.Second)
		synctest.Wait()
		d.answers(func(id pathlock.GrantID) []any { return answers[id] })
		before := len(d.tries())
		time.Sleep(2 * time.Second)
		synctest.Wait()

		if !d.idle() {
			t.Error("it is still tried, though the server has answered")
		}
		var tried []pathlock.GrantID
		for _, try := range d.tries()[before:] {
			tried = append(tried, try.id)
		}
		slices.Sort(tried)
		if want := []pathlock.GrantID{"granted", "queued", "unknown"}; !slices.Equal(tried, want) {
			t.Errorf("tried %v when the server answered, want %v, each once", tried, want)
		}
		if all := d.tries()[before:]; all[len(all)-1].at != all[0].at {
			t.Errorf("tried at %v, want all of them as soon as the first was answered", all)
		}
		if !slices.Equal(d.released, []string{"granted"}) {
			t.Errorf("released %v, want what was granted", d.released)
		}

		// The next one finds everything as the first did.
		d.add("next", time.Minute)
		synctest.Wait()
		if last := d.last(); last.id != "next" {
			t.Errorf("the last try was of %v, want the next request", last.id)
		}
	})
}

// TestTakeBackPassesOver: what is on a node that does not answer does not hold up what is on one that does.
func TestTakeBackPassesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		d.answers(func(id pathlock.GrantID) []any {
			if id == "alive" {
				return absent(id)
			}
			return nil
		})
		d.add("dead", time.Hour)
		d.add("alive", time.Hour)
		time.Sleep(time.Minute)
		synctest.Wait()
		alive := 0
		for _, try := range d.tries() {
			if try.id == "alive" {
				alive++
			}
		}
		if alive != 1 {
			t.Errorf("tried %d times where the server answers, want once", alive)
		}
		if last := d.last(); last.id != "dead" {
			t.Errorf("the last try was of %v, want the other one to be tried on", last.id)
		}
		if err := d.store.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTakeBackClosed: when the store is closed there is one more try, at once, and no more if the server does not
// answer: closing takes no longer than one command.
func TestTakeBackClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		for _, id := range []pathlock.GrantID{"a", "b", "c"} {
			d.add(id, time.Hour)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		before, closing := len(d.tries()), time.Now()
		if err := d.store.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(closing); took != 0 {
			t.Errorf("closing took %v", took)
		}
		if tried := d.tries()[before:]; len(tried) != 1 {
			t.Errorf("tried %v while closing, want one try", tried)
		}
		if !d.idle() {
			t.Error("it is still tried, though the store is closed")
		}
	})
}

// TestTakeBackForgotten: a request that is made again is not taken back any more; others are.
func TestTakeBackForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		again := d.add("again", time.Minute)
		for _, other := range []*request{
			d.add("other grant", time.Minute),
			{Acquisition: pathlock.Acquisition{Tree: newTree(t), Owner: "owner", Grant: "again"}},
			{Acquisition: pathlock.Acquisition{Owner: "other", Grant: "again"}},
		} {
			if other.Grant == "again" {
				d.store.takeBacks.forget(other)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if last := d.last(); last.id != "again" {
			t.Errorf("the last try was of %v: it was forgotten because of another's request", last.id)
		}

		d.store.takeBacks.forget(again)
		before := len(d.tries())
		d.answers(absent)
		time.Sleep(time.Minute)
		synctest.Wait()
		if after := d.tries()[before:]; len(after) != 1 || after[0].id != "other grant" {
			t.Errorf("tried %v, want the other grant alone", after)
		}
		if !d.idle() {
			t.Error("it is still tried")
		}
	})
}

// TestTakeBackForgetWaits: a try that is under way has ended before the request is made again.
func TestTakeBackForgetWaits(t *testing.T) {
	d := startDeaf(t)
	begun, ended := make(chan struct{}), make(chan struct{})
	d.answers(func(id pathlock.GrantID) []any {
		close(begun)
		time.Sleep(short / 3) // the server's time
		close(ended)
		return absent(id)
	})
	again := d.add("again", time.Minute)
	<-begun
	d.store.takeBacks.forget(again)
	select {
	case <-ended:
	default:
		t.Error("forgotten while it is being taken back")
	}
}

// withdrawals tells of what the server answers to withdrawals.
type withdrawals struct {
	sha     string
	answers chan string
}

func (h withdrawals) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h withdrawals) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h withdrawals) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if c, ok := cmd.(*redis.Cmd); ok && cmd.Args()[1] == h.sha {
			if answer, err := parseReply(c.Val(), ""); err == nil {
				h.answers <- answer.status
			}
		}
		return err
	}
}

// hung returns a store whose server hangs, and what the server will answer to its withdrawals.
func hung(t *testing.T) (*server, *Store, withdrawals) {
	server := startServer(t)
	client := closeClient(t, redis.NewClient(&redis.Options{Addr: server.addr, MaxRetries: -1, ContextTimeoutEnabled: true}))
	store := closeStore(t, New(client, WithTimeout(short/2)))
	hook := withdrawals{store.scripts.withdraw.sha, make(chan string, 100)}
	client.AddHook(hook)
	// All scripts are there, and so is the connection.
	warm := ask(newTree(t), x("/a"))
	take(t, store, warm)
	if err := store.withdraw(t.Context(), &request{Acquisition: warm, keys: store.keys.of(warm.Tree)}); err != nil {
		t.Fatal(err)
	}
	<-hook.answers
	server.signal(syscall.SIGSTOP)
	return server, store, hook
}

// TestTakeBackFromServerThatHung: what a server grants that nobody waits for any more is given back long before the lease
// would have ended.
func TestTakeBackFromServerThatHung(t *testing.T) {
	server, store, hook := hung(t)
	lost := ask(newTree(t), x("/a"))
	if _, err := store.Acquire(t.Context(), lost); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Fatalf("acquire: %v, want ErrUnavailable", err)
	}
	server.signal(syscall.SIGCONT)
	next := ask(lost.Tree, x("/a"))
	next.Wait = long
	other := server.store()
	select {
	case status := <-hook.answers:
		if status != "granted" {
			t.Errorf("the withdrawal was answered with %q, want that there was a grant", status)
		}
	case <-time.After(patience):
		t.Fatal("nothing is taken back")
	}
	take(t, other, next)
	release(t, other, next)
}

// TestTakeBackNotOfWhatIsMadeAgain: a request that fails and is made again, and then granted, stays granted.
func TestTakeBackNotOfWhatIsMadeAgain(t *testing.T) {
	server, store, _ := hung(t)
	again := ask(newTree(t), x("/a"))
	if _, err := store.Acquire(t.Context(), again); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Fatalf("acquire: %v, want ErrUnavailable", err)
	}
	server.signal(syscall.SIGCONT)
	for {
		_, err := store.Acquire(t.Context(), again)
		if err == nil {
			break
		}
		if !errors.Is(err, pathlock.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil { // after a last try of all that there is to take back
		t.Fatal(err)
	}
	requireHeld(t, server.store(), again)
}
