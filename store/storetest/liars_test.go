package storetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// liars break one promise each. The suite has to catch every one of them, by the test that is
// named.
var liars = map[string]struct {
	store  func() pathlock.Store
	caught string // the test that fails
	// options are those of the run, if any.
	options []storetest.Option
}{
	"grants everything": {
		store:  offstore.New,
		caught: "compatibility/all 25 pairs of modes on one node, above each other and below",
	},
	"keeps a part of a refused set": {
		store: newLiar(func(l *liar) {
			l.acquire = func(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
				g, err := l.Store.Acquire(ctx, req)
				if err != nil && len(req.Claims) > 2 {
					part := req
					part.Wait, part.Claims = 0, req.Claims[:2]
					_, _ = l.Store.Acquire(context.WithoutCancel(ctx), part)
				}
				return g, err
			}
		}),
		caught: "model",
	},
	"renews nothing": {
		store: newLiar(func(l *liar) {
			l.renew = func(context.Context, pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error) { return nil, nil }
		}),
		caught: "leases/a renewed lease outlives its first end",
	},
	"lets a new grant hide a loss": {
		store:  asking(func(req *pathlock.Acquisition) { req.Held = false }),
		caught: "model",
	},
	"transfers a part of what is held": {
		store: newLiar(func(l *liar) {
			l.transfer = func(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
				got, err := l.Store.Transfer(ctx, t)
				if len(got.Grants) > 1 {
					_ = l.Store.Release(ctx, t.Tree, t.To, got.Grants[0].ID)
				}
				return got, err
			}
		}),
		caught: "model",
	},
	"hands a dead waiter a whole lease": {
		store:  memstore.New,
		caught: "crash/a hand-over to a dead waiter begins no new lease",
		options: []storetest.Option{storetest.Crash(func(*testing.T) (survivor, victim pathlock.Store, crash func()) {
			immortal := memstore.New()
			return immortal, immortal, func() {}
		})},
	},
	"counts a lease from the moment at which the grant is read": {
		store: newLiar(func(l *liar) {
			l.acquire = func(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
				g, err := l.Store.Acquire(ctx, req)
				time.Sleep(20 * time.Millisecond)
				g.Asked = time.Now()
				return g, err
			}
		}),
		caught: "leases/a lease lives for as long as was asked, from Grant.Asked on",
	},
	"never shortens a lease": {
		store: newLiar(func(l *liar) {
			l.transfer = func(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
				lease := t.Lease
				t.Lease = 0
				got, err := l.Store.Transfer(ctx, t)
				if err == nil && lease > got.Left {
					_, err = l.Store.Renew(ctx, t.Tree, []pathlock.Lease{{Owner: t.To, For: lease}})
				}
				return got, err
			}
		}),
		caught: "holds that outlive/a refresh to an earlier end lets waiters in then",
	},
	"has all grants of an owner share a lease": {
		store:  asking(func(req *pathlock.Acquisition) { req.Apart = false }),
		caught: "grants apart/a snapshot shows when it ends: with its owner's lease at the latest",
	},
	"keeps its callers while its server is silent": {
		store:  memstore.New,
		caught: "silence/1: an acquisition that waits for 0s ends in time",
		options: []storetest.Option{storetest.Silence(func(*testing.T) storetest.Silent {
			s := &sluggish{Store: memstore.New()}
			return storetest.Silent{
				Store: s, Other: s.Store, Timeout: 100 * time.Millisecond,
				Stop: func() { s.silent.Store(true) }, Resume: func() { s.silent.Store(false) },
			}
		})},
	},
	"lets readers in beside writers, at times": {
		store: asking(func(req *pathlock.Acquisition) {
			for i, c := range req.Claims {
				if c.Mode == pathlock.ModeS {
					req.Claims[i].Path = pathlock.MustParsePath("/elsewhere" + c.Path.Column())
				}
			}
		}),
		caught: "fairness/a crowd of readers and writers on one node is served: no writer meets another, or a reader",
	},
}

// sluggish is a store whose calls take two seconds while its server is silent.
type sluggish struct {
	pathlock.Store
	silent atomic.Bool
}

func (s *sluggish) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if s.silent.Load() {
		time.Sleep(2 * time.Second)
		return pathlock.Grant{}, pathlock.ErrUnavailable
	}
	return s.Store.Acquire(ctx, req)
}

// liarVariable names the liar that TestLiar is to run the suite on.
const liarVariable = "PATHLOCK_STORETEST_LIAR"

// TestLiar is the suite on one liar; TestLiarsAreCaught runs it in processes of its own, since it
// fails.
func TestLiar(t *testing.T) {
	name := os.Getenv(liarVariable)
	if name == "" {
		t.Skip("run by TestLiarsAreCaught")
	}
	storetest.Run(t, func(*testing.T) pathlock.Store { return liars[name].store() }, append(liars[name].options, storetest.Virtual())...)
}

func TestLiarsAreCaught(t *testing.T) {
	self, err := os.Executable()
	testerr.Must(t, err)
	for name, liar := range liars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pattern := "^TestLiar$"
			for part := range strings.SplitSeq(underscored("promises/"+liar.caught), "/") {
				pattern += "/^" + regexp.QuoteMeta(part) + "$"
			}
			suite := exec.CommandContext(t.Context(), self, "-test.run="+pattern, "-test.v")
			suite.Env = append(os.Environ(), liarVariable+"="+name)
			out, err := suite.CombinedOutput()
			var failed *exec.ExitError
			if !errors.As(err, &failed) {
				t.Fatalf("the suite ended with %v, want it to fail", err)
			}
			if want := "--- FAIL: TestLiar/promises/" + underscored(liar.caught) + " "; !strings.Contains(string(out), want) {
				t.Errorf("the output lacks %q:\n%s", want, out)
			}
		})
	}
}

// underscored returns a test's name as the testing package writes it.
func underscored(name string) string { return strings.ReplaceAll(name, " ", "_") }

// liar is the in-process store with some methods replaced.
type liar struct {
	pathlock.Store
	acquire  func(context.Context, pathlock.Acquisition) (pathlock.Grant, error)
	renew    func(context.Context, pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error)
	transfer func(context.Context, pathlock.Transfer) (pathlock.Transferred, error)
}

func newLiar(lie func(*liar)) func() pathlock.Store {
	return func() pathlock.Store {
		honest := memstore.New()
		l := &liar{Store: honest, acquire: honest.Acquire, renew: honest.Renew, transfer: honest.Transfer}
		lie(l)
		return l
	}
}

// asking is a liar that changes requests.
func asking(change func(*pathlock.Acquisition)) func() pathlock.Store {
	return newLiar(func(l *liar) {
		l.acquire = func(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
			change(&req)
			return l.Store.Acquire(ctx, req)
		}
	})
}

func (l *liar) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	return l.acquire(ctx, req)
}

func (l *liar) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	return l.renew(ctx, tree, leases)
}

func (l *liar) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	return l.transfer(ctx, t)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// This is all that a store needs in order to be tested.
func TestRun(t *testing.T) {
	storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() }, storetest.Virtual())
}
