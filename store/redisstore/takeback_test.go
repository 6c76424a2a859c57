package redisstore

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// deaf acts as a server: it notes what it is asked to withdraw and when, and answers as the test
// says. Time is the bubble's.
type deaf struct {
	caller *caller
	began  time.Time

	mu    sync.Mutex
	reply error
	tries []try // since the last call of during
}

// refused is an error that a server answers.
type refused struct{ error }

func (refused) RedisError() {}

type try struct {
	id       pathlock.GrantID
	at       time.Duration // since the beginning
	remember time.Duration
}

const deafTimeout = 3 * time.Second

// startDeaf returns a caller that has only the deaf server.
func startDeaf(t *testing.T) *deaf {
	d := &deaf{began: time.Now(), reply: io.ErrUnexpectedEOF}
	d.caller = newCaller(deafTimeout, nil, func(context.Context) {}, func(_ context.Context, k requestKey, remember time.Duration) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.tries = append(d.tries, try{k.grant, time.Since(d.began), remember})
		return d.reply
	})
	t.Cleanup(d.close)
	return d
}

func (d *deaf) answers(reply error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reply = reply
}

func (d *deaf) close() {
	d.caller.close()
	d.caller.commands.Wait()
}

// ask sends a request whose command ends with an error after a time.
func (d *deaf) ask(id pathlock.GrantID, takes time.Duration, ends error) *request {
	r := &request{
		Acquisition: pathlock.Acquisition{Owner: "owner", Grant: id, Lease: time.Minute}, sent: counted{value: "owner"},
	}
	_, _ = doFor(context.Background(), d.caller, operation{Verb: "acquire"}, r, deafTimeout, func(context.Context) (int, error) {
		r.asked.Add(1)
		_, err := r.sent.MarshalBinary() // it is sent
		time.Sleep(takes)
		if ends != nil {
			err = ends
		}
		return 0, err
	})
	return r
}

// during lets time pass, and returns what has been tried since the last time.
func (d *deaf) during(pass time.Duration) []try {
	time.Sleep(pass)
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	tries := d.tries
	d.tries = nil
	return tries
}

// TestTakeBack: what fails without an answer, or is left behind, is withdrawn in pauses that grow,
// until the server answers, long after the lease; an error that it answers is enough then.
func TestTakeBack(t *testing.T) {
	for name, tt := range map[string]struct {
		takes    time.Duration
		ends     error
		begins   time.Duration
		remember time.Duration
	}{
		"lost":                      {0, io.EOF, 0, longestDelay},
		"left, and lost":            {2 * deafTimeout, io.EOF, 2 * deafTimeout, longestDelay},
		"left, and granted":         {2 * deafTimeout, nil, 2 * deafTimeout, 0},
		"answered with a refusal":   {0, refused{io.EOF}, 0, 0},
		"left, and refused at last": {2 * deafTimeout, refused{io.EOF}, 2 * deafTimeout, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := startDeaf(t)
				d.ask("lost", tt.takes, tt.ends)
				at, pause := tt.begins, 50*time.Millisecond
				for i, try := range d.during(10 * time.Minute) {
					if try.at != at || try.remember != tt.remember {
						t.Errorf("try %d after %v, to be remembered for %v; want it after %v, for %v", i, try.at, try.remember, at, tt.remember)
					}
					at, pause = at+pause, min(2*pause, time.Second)
				}
				if at < 10*time.Minute-time.Second {
					t.Errorf("the last try was before %v", at)
				}
				d.answers(refused{io.EOF})
				if tried := d.during(time.Minute); len(tried) != 1 {
					t.Errorf("tried %v when the server answered, want it once", tried)
				}
			})
		})
	}
}

// TestCommand_OfACancelledContext: a punctual client's command that is under way ends with its
// answer, which counts, or with its time, and the request is taken back.
func TestCommand_OfACancelledContext(t *testing.T) {
	for name, takes := range map[string]time.Duration{"answered": time.Second, "not answered": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := startDeaf(t)
				d.caller.punctual = true
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Millisecond, cancel)
				r := &request{Acquisition: pathlock.Acquisition{Owner: "owner", Grant: "cancelled", Lease: time.Minute}, sent: counted{value: "owner"}}
				_, err := doFor(ctx, d.caller, operation{Verb: "acquire"}, r, deafTimeout, func(ctx context.Context) (int, error) {
					if _, err := r.sent.MarshalBinary(); err != nil { // it is sent
						return 0, err
					}
					deadline, _ := ctx.Deadline() // all that a connection heeds
					select {
					case <-time.After(takes):
						return 1, nil
					case <-time.After(time.Until(deadline)):
						return 0, context.DeadlineExceeded
					}
				})
				took := time.Since(d.began)
				if takes < deafTimeout && (err != nil || took != takes) {
					t.Errorf("%v after %v, want the answer", err, took)
				}
				if takes > deafTimeout && (!errors.Is(err, context.Canceled) || took != deafTimeout || len(d.during(0)) != 1) {
					t.Errorf("%v after %v, want context.Canceled with the time-out", err, took)
				}
			})
		})
	}
}

// TestTakeBack_refusalWithinTheLease: as long as the lease may last, an error that the server
// answers is not enough.
func TestTakeBack_refusalWithinTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		d.answers(refused{io.EOF})
		d.ask("lost", 0, io.EOF)
		if tried := d.during(10 * time.Minute); tried[len(tried)-1].at < time.Minute {
			t.Errorf("the last try was after %v, want it when the lease has ended", tried[len(tried)-1].at)
		}
	})
}

// TestTakeBackClosed: when the store is closed there is one more try of each, all at once: closing
// takes no longer than one command.
func TestTakeBackClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		for _, id := range []pathlock.GrantID{"a", "b", "c"} {
			d.ask(id, 0, io.EOF)
		}
		d.during(time.Minute)
		closing := time.Now()
		d.close()
		if took := time.Since(closing); took != 0 {
			t.Errorf("closing took %v", took)
		}
		if tried := d.during(0); len(tried) != 3 {
			t.Errorf("tried %v while closing, want each once", tried)
		}
	})
}

// TestTakeBack_madeAgain: a request is made again when nothing of its earlier try is under way any
// more, or it cannot be made. Others are taken back meanwhile.
func TestTakeBack_madeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		again := d.ask("again", 0, io.EOF)
		d.ask("another", 0, io.EOF)
		if err := d.caller.settle(t.Context(), again, deafTimeout); err == nil || time.Since(d.began) != deafTimeout {
			t.Errorf("%v after %v, want an error after %v", err, time.Since(d.began), deafTimeout)
		}
		d.answers(nil)
		testerr.Must(t, d.caller.settle(t.Context(), again, deafTimeout))
		d.during(time.Second)
		if tried := d.during(time.Minute); len(tried) > 0 {
			t.Errorf("tried %v, want that both are forgotten", tried)
		}
		slow := d.ask("slow", 2*deafTimeout, nil) // it is left behind after the time-out
		if err := d.caller.settle(t.Context(), slow, deafTimeout/2); err == nil {
			t.Error("it is made again while its command is under way")
		}
		testerr.Must(t, d.caller.settle(t.Context(), slow, deafTimeout))
		if tried := d.during(0); len(tried) != 1 || tried[0].id != "slow" {
			t.Errorf("tried %v, want it taken back before it is made again", tried)
		}
	})
}

// TestUndo: what nobody waits for any more has been taken back when undo returns, or is taken back
// in the background.
func TestUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDeaf(t)
		granted := d.ask("granted", 0, nil)
		ctx, cancel := context.WithTimeout(t.Context(), gracePeriod)
		defer cancel()
		d.caller.undo(ctx, granted)
		if took := time.Since(d.began); took != gracePeriod {
			t.Errorf("it took %v, want %v", took, gracePeriod)
		}
		d.during(0)
		d.answers(nil)
		if tried := d.during(time.Minute); len(tried) != 1 {
			t.Errorf("tried %v, want it once", tried)
		}
		undone := time.Since(d.began)
		d.caller.undo(t.Context(), granted)
		if tried := d.during(time.Minute); len(tried) != 1 || tried[0].at != undone {
			t.Errorf("tried %v, want it once, at %v", tried, undone)
		}
	})
}
