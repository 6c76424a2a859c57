package gormplugintest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// checkInterruptions has the context end at every single call of the driver that a write makes,
// right before and right after it: the write has happened as a whole or not at all, as its error
// says, the locks were let go once, after the end, and no connection is left.
func checkInterruptions(t *testing.T, d Database) {
	for _, change := range changes() {
		for _, way := range ways() {
			if d.SoleWriter && way.name == "prepared" {
				// database/sql forgets a statement that is prepared in a transaction just when that
				// is rolled back, and SQLite does not close a file with statements left.
				continue
			}
			t.Run(change.name+" "+way.name, func(t *testing.T) { interrupt(t, d, change, way, settings{}) })
			// What waits for the one connection waits for whoever holds it, and for nothing else.
			if change.name == "move" || change.name == "insert a leaf" {
				t.Run(change.name+" "+way.name+" on one connection", func(t *testing.T) { interrupt(t, d, change, way, settings{connections: 1}) })
			}
		}
	}
}

// interrupt has the context of one kind of write end at every call, one after the other.
func interrupt(t *testing.T, d Database, change change, way way, s settings) {
	t.Helper()
	w := newWorld(t, d, s)
	for _, p := range change.rows {
		w.build(p)
	}
	statement := change.statement(w)
	before := w.state()
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(context.Background())
		var calls atomic.Int64
		w.trace.reset()
		w.trace.intercept(func(call) error {
			if calls.Add(1) == int64(n) {
				cancel()
			}
			return nil
		})
		err := way.run(w.db.WithContext(ctx), statement)
		w.trace.intercept(nil)
		w.settled(err)
		interrupted := ctx.Err() != nil
		cancel()
		if err == nil {
			if w.state() == before {
				t.Fatalf("interrupted at call %d: no error, and nothing written", n)
			}
			if interrupted && int64(n) < calls.Load()-2 {
				t.Errorf("interrupted at call %d of %d, and written", n, calls.Load())
			}
			if n < 5 {
				t.Errorf("the write took %d calls only", n)
			}
			return
		}
		if !interrupted {
			t.Fatalf("not interrupted, and failed: %v", err)
		}
		if now := w.state(); now != before {
			t.Fatalf("interrupted at call %d (%v): the tree was %s and is %s", n, err, before, now)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted at call %d: got the error %v", n, err)
		}
	}
}
