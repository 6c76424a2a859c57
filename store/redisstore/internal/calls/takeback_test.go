package calls

import (
	"context"
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
	caller *Caller

	mu sync.Mutex
	// answers is whether the server answers to a withdrawal; the error is errDeaf otherwise.
	answers func(id pathlock.GrantID) bool
	all     []try
}

func (d *deaf) answer(to func(id pathlock.GrantID) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers = to
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

const timeout = 3 * time.Second

// startDeaf returns a caller that has only the deaf server.
func startDeaf(t *testing.T) *deaf {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ContextTimeoutEnabled: true})
	began := time.Now()
	d := &deaf{answers: nothing}
	d.caller = New(Config{
		Client:     client,
		Timeout:    timeout,
		Unanswered: func(context.Context) {},
		Withdraw: func(_ context.Context, k Key, _ time.Duration) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.all = append(d.all, try{k.Grant, time.Since(began)})
			if d.answers(k.Grant) {
				return nil
			}
			return errDeaf
		},
	})
	t.Cleanup(func() {
		d.close()
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *deaf) close() {
	d.caller.Close()
	d.caller.Wait()
}

// add has a request taken back that failed just now.
func (d *deaf) add(id pathlock.GrantID, lease time.Duration) *Request {
	r := NewRequest(Key{Owner: "owner", Grant: id}, lease)
	if _, err := r.Sent.MarshalBinary(); err != nil { // it was sent
		panic(err)
	}
	d.caller.takeBacks.add(&flight{request: r}, errDeaf)
	return r
}

// last returns what has been tried last.
func (d *deaf) last() try {
	all := d.tries()
	return all[len(all)-1]
}

// idle reports whether nothing is to be taken back, and nobody tries.
func (d *deaf) idle() bool {
	t := &d.caller.takeBacks
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending) == 0
}

func nothing(pathlock.GrantID) bool    { return false }
func everything(pathlock.GrantID) bool { return true }

// TestTakeBackPauses: a server that does not answer is asked again in pauses that grow, until it
// answers, long after the lease.
func TestTakeBackPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = time.Minute
		d := startDeaf(t)
		d.add("lost", lease)
		time.Sleep(10 * lease)
		synctest.Wait()

		at, pause := time.Duration(0), 50*time.Millisecond
		for i, try := range d.tries() {
			if try.at != at {
				t.Errorf("try %d after %v, want it after %v", i, try.at, at)
			}
			at, pause = at+pause, min(2*pause, time.Second)
		}
		if last := d.last().at; last < 10*lease-longestTakeBackPause {
			t.Errorf("the last try was after %v", last)
		}
		d.answer(everything)
		time.Sleep(longestTakeBackPause)
		synctest.Wait()
		if !d.idle() {
			t.Error("it is still tried, though the server has answered")
		}
	})
}

// TestTakeBackAnswered: what the server answers is done with.
func TestTakeBackAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		want := []pathlock.GrantID{"granted", "queued", "unknown"}
		for _, id := range want {
			d.add(id, time.Minute)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		d.answer(everything)
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
		if !slices.Equal(tried, want) {
			t.Errorf("tried %v when the server answered, want %v, each once", tried, want)
		}
	})
}

// TestTakeBackClosed: when the store is closed there is one more try of each, all at once: closing
// takes no longer than one command.
func TestTakeBackClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		for _, id := range []pathlock.GrantID{"a", "b", "c"} {
			d.add(id, time.Hour)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		before, closing := len(d.tries()), time.Now()
		d.close()
		if took := time.Since(closing); took != 0 {
			t.Errorf("closing took %v", took)
		}
		if tried := d.tries()[before:]; len(tried) != 3 {
			t.Errorf("tried %v while closing, want each once", tried)
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
		d.add("other grant", time.Minute)
		tree, err := pathlock.NewTree("testplan", "other")
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []Key{{Tree: tree, Owner: "owner", Grant: "again"}, {Owner: "other", Grant: "again"}} {
			if err := d.caller.Forget(t.Context(), NewRequest(other, time.Minute), timeout); err != nil {
				t.Fatal(err)
			}
		}
		before := len(d.tries())
		time.Sleep(time.Second)
		synctest.Wait()
		if !slices.ContainsFunc(d.tries()[before:], func(t try) bool { return t.id == "again" }) {
			t.Error("it is tried no more: it was forgotten because of another's request")
		}

		if err := d.caller.Forget(t.Context(), again, timeout); err != nil {
			t.Fatal(err)
		}
		before = len(d.tries())
		d.answer(everything)
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
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		begun, ended := make(chan struct{}), make(chan struct{})
		d.answer(func(pathlock.GrantID) bool {
			close(begun)
			time.Sleep(time.Second) // the server's time
			close(ended)
			return true
		})
		again := d.add("again", time.Minute)
		<-begun
		if err := d.caller.Forget(t.Context(), again, timeout); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
		default:
			t.Error("forgotten while it is being taken back")
		}
	})
}
