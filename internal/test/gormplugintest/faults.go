package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"gorm.io/gorm"
)

var (
	errLost   = fmt.Errorf("the connection is lost: %w", io.ErrUnexpectedEOF)
	errFailed = errors.New("the statement fails")
)

// fault is something that goes wrong at one call of the driver's.
type fault struct {
	name string
	// silent is set where GORM's drivers do not say that a SAVEPOINT has failed.
	silent bool
	// ignored is set where a caller goes on in the transaction, and commits it.
	ignored bool
	// applies reports whether it can strike at a call, in a transaction or before it.
	applies func(d Database, c call, begun bool) bool
	// strike has it happen, and returns what the driver says.
	strike func(d Database, c call, cancel func()) error
	// judge looks at the outcome of the write.
	judge func(w *world, d Database, o aftermath)
}

// aftermath is what a fault leaves behind.
type aftermath struct {
	// at is the call that it struck, later how many calls came after that, and commits how many
	// transactions were committed.
	at             call
	later, commits int
	within         bool
	changed        bool
	// told is what a function after the transaction of the caller's was told.
	told *gormplugin.Outcome
	err  error
}

// outcome is what the function has to be told.
func (o aftermath) outcome() gormplugin.Outcome {
	switch {
	case errors.Is(o.err, gormplugin.ErrOutcomeUnknown):
		return gormplugin.Unknown
	case o.err == nil:
		return gormplugin.Committed
	default:
		return gormplugin.RolledBack
	}
}

// faults are an end of the context, a lost connection, and a transaction that the database gives
// up.
func faults() []fault {
	return []fault{
		{"the context ends", false, false, func(Database, call, bool) bool { return true }, func(_ Database, _ call, cancel func()) error {
			cancel()
			return nil
		}, func(w *world, _ Database, o aftermath) {
			if o.changed != (o.err == nil) || o.err != nil && !errors.Is(o.err, context.Canceled) || o.err == nil && o.later > 2 {
				w.Errorf("changed: %t, %d calls after the end, the error %v", o.changed, o.later, o.err)
			}
		}},
		// A database in the process has no connection to lose, but its COMMIT can fail.
		{"the connection is lost", true, false, func(d Database, c call, _ bool) bool { return !d.SoleWriter || c.kind == "commit" }, func(d Database, c call, _ func()) error {
			switch {
			case !d.SoleWriter:
				c.drop()
			case !c.after:
				c.abort()
			}
			return errLost
		}, func(w *world, d Database, o aftermath) {
			commit := o.at.kind == "commit"
			if o.changed != (commit && o.at.after) || !errors.Is(o.err, errLost) || errors.Is(o.err, gormplugin.ErrRetry) ||
				errors.Is(o.err, gormplugin.ErrOutcomeUnknown) != (commit && !d.SoleWriter) {
				w.Errorf("lost at the %s: changed: %t, the error %v", o.at.kind, o.changed, o.err)
			}
		}},
		{"the connection is lost, and the caller goes on", true, true, func(d Database, c call, begun bool) bool {
			return !d.SoleWriter && begun && c.kind != "begin" && c.kind != "commit" && c.kind != "rollback"
		}, func(_ Database, c call, _ func()) error {
			c.drop()
			return errLost
		}, func(w *world, _ Database, o aftermath) {
			if o.changed || o.err == nil || !o.within && !errors.Is(o.err, errLost) || errors.Is(o.err, gormplugin.ErrRetry) || errors.Is(o.err, gormplugin.ErrOutcomeUnknown) {
				w.Errorf("lost at the %s: changed: %t, the error %v", o.at.kind, o.changed, o.err)
			}
		}},
		{"the database gives up", true, false, func(d Database, c call, begun bool) bool {
			return d.GivenUp != nil && begun && !c.after && c.kind != "rollback"
		}, func(d Database, c call, _ func()) error {
			if c.kind == "commit" {
				c.abort()
			}
			return d.GivenUp
		}, func(w *world, _ Database, o aftermath) {
			// In a transaction of the caller's, it is the caller's to try again.
			tried := o.err == nil && o.changed && o.commits == 1
			refused := errors.Is(o.err, gormplugin.ErrRetry) && !o.changed && o.commits == 0
			if o.within && !refused || !o.within && !tried {
				w.Errorf("given up at the %s: committed %d times, changed: %t, the error %v", o.at.kind, o.commits, o.changed, o.err)
			}
		}},
		{"a statement fails, and the caller goes on", true, true, func(_ Database, c call, begun bool) bool {
			return begun && !c.after && c.kind != "begin" && c.kind != "commit" && c.kind != "rollback"
		}, func(Database, call, func()) error { return errFailed }, func(w *world, _ Database, o aftermath) {
			if o.changed || !o.within && !errors.Is(o.err, errFailed) {
				w.Errorf("failed at the %s of %d calls: changed: %t, the error %v", o.at.kind, o.later, o.changed, o.err)
			}
		}},
	}
}

// checkFaults has each fault strike at every single call of the driver that a write makes, right
// before and right after it: the write has happened as a whole or not at all, as its error says,
// the locks were let go once, after the end, and no connection is left. On one server, each kind of
// write shows that; on the others, those will do that between them have each kind of statement.
func checkFaults(t *testing.T, d Database) {
	few := d.Again || d.Dialector(nil).Name() == "mysql"
	for _, f := range faults() {
		for _, change := range changes() {
			if few && !change.typical {
				continue
			}
			for _, way := range ways() {
				if f.silent && way.nested {
					continue
				}
				t.Run(f.name+": "+change.name+" "+way.name, func(t *testing.T) {
					w := newWorld(t, d, settings{connections: way.connections})
					at := w.changeable()
					for n := 1; ; n++ {
						struck, changed := f.strikes(w, d, change, way, at, n)
						if !struck || w.Failed() {
							return
						}
						if changed {
							at = w.changeable()
						}
					}
				})
			}
		}
	}
}

// strikes has the fault strike at the call of a number, and reports whether there was one, and
// whether the write has happened.
func (f fault) strikes(w *world, d Database, change change, way way, at map[string]*Suite, number int) (struck, changed bool) {
	w.Helper()
	before := w.state()
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	var mu sync.Mutex
	var o aftermath
	calls, begun := 0, false
	w.trace.reset()
	w.trace.intercept(func(c call) error {
		mu.Lock()
		defer mu.Unlock()
		begun = begun || c.kind == "begin"
		if c.kind == "commit" && c.after {
			o.commits++
		}
		if struck {
			o.later++
		}
		if struck || !f.applies(d, c, begun) {
			return nil
		}
		if calls++; calls < number {
			return nil
		}
		struck, o.at = true, c
		return f.strike(d, c, cancel)
	})
	o.within = way.within
	told, registered := make(chan gormplugin.Outcome, 100), 0
	o.err = way.run(w.db.WithContext(ctx), func(db *gorm.DB) error {
		if o.within {
			if gormplugin.AfterEnd(db, func(_ context.Context, outcome gormplugin.Outcome) { told <- outcome }) == nil {
				registered++
			}
		}
		err := change.run(db, at)
		if f.ignored && o.within {
			return nil
		}
		return err
	})
	w.trace.intercept(nil)
	w.settled(o.err)
	for range registered { // where the context ends, the function is called beside
		select {
		case outcome := <-told:
			o.told = &outcome
		case <-time.After(testlock.Patience):
			w.Error("nobody was told of the end")
		}
	}
	o.changed = w.state() != before
	if o.told != nil && *o.told != o.outcome() && (!way.nested || *o.told != gormplugin.RolledBack) {
		w.Errorf("told %s, the error %v", outcomeNames[*o.told], o.err)
	}
	switch {
	case struck:
		f.judge(w, d, o)
	case o.err != nil || !o.changed:
		w.Errorf("nothing went wrong: changed: %t, the error %v", o.changed, o.err)
	}
	return struck, o.changed
}

// settled checks that no lock was released before the transaction ended, that each was released
// once, and that nothing is left open.
func (w *world) settled(err error) {
	w.Helper()
	events := strings.Fields(w.trace.String())
	if problem := unsettled(events); problem != "" {
		w.Fatalf("%s (error %v): %v", problem, err, events)
	}
	pool, err := w.db.DB()
	w.must(err)
	if n := pool.Stats().InUse; n != 0 {
		w.Fatalf("%d connections are in use: %v", n, events)
	}
}

// unsettled says what is wrong with the order of events.
func unsettled(events []string) string {
	open, held := 0, 0
	for _, e := range events {
		switch e {
		case "begin":
			open++
		case "commit", "rollback":
			open--
		case "grant":
			held++
		case "release":
			if held--; open != 0 {
				return "locks were let go before the end"
			}
		}
	}
	if open != 0 || held != 0 {
		return "something is left"
	}
	return ""
}
