package redisstore

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// deaf stands for a server: it notes when it is asked to withdraw what, and answers as the test
// says. Time is the bubble's.
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
		if err := errors.Join(d.store.Close(context.WithoutCancel(t.Context())), d.store.client.Close()); err != nil {
			t.Error(err)
		}
	})
	began := time.Now()
	d.store.runner.process = func(_ context.Context, _ lane, cmd redis.Cmder) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		last := cmd.Args()[len(cmd.Args())-1].(string)
		switch cmd.Args()[1] {
		case d.store.scripts.withdraw.sha:
			id := pathlock.GrantID(cmd.Args()[len(cmd.Args())-2].(string))
			d.all = append(d.all, try{id, time.Since(began)})
			if d.answer != nil {
				if answer := d.answer(id); answer != nil {
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
	r.owner.writes.Add(1) // it was sent
	d.store.takeBacks.add(&flight{request: r}, errDeaf)
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

// TestTakeBackPauses: a server that does not answer is asked again in pauses that grow, until the
// lease has ended.
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

// TestTakeBackPassesOver: what is on a node that does not answer does not hold up what is on one
// that does.
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
		if err := d.store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTakeBackClosed: when the store is closed there is one more try, at once, and no more if the
// server does not answer: closing takes no longer than one command.
func TestTakeBackClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		for _, id := range []pathlock.GrantID{"a", "b", "c"} {
			d.add(id, time.Hour)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		before, closing := len(d.tries()), time.Now()
		if err := d.store.Close(context.WithoutCancel(t.Context())); err != nil {
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
				_ = d.store.takeBacks.forget(t.Context(), other)
			}
		}
		before := len(d.tries())
		time.Sleep(time.Second)
		synctest.Wait()
		if !slices.ContainsFunc(d.tries()[before:], func(t try) bool { return t.id == "again" }) {
			t.Error("it is tried no more: it was forgotten because of another's request")
		}

		_ = d.store.takeBacks.forget(t.Context(), again)
		before = len(d.tries())
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
	_ = d.store.takeBacks.forget(t.Context(), again)
	select {
	case <-ended:
	default:
		t.Error("forgotten while it is being taken back")
	}
}
