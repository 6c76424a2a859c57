package pathlock_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// Conversations of lockers in several processes with one store. testdata/detach.txt says what the
// commands mean.
func TestDetach(t *testing.T)  { testlock.Transcripts(t, "detach.txt", newStage) }
func TestLease(t *testing.T)   { testlock.Transcripts(t, "lease.txt", newStage) }
func TestRelease(t *testing.T) { testlock.Transcripts(t, "release.txt", newStage) }
func TestScope(t *testing.T)   { testlock.Transcripts(t, "scope.txt", newStage) }
func TestMutex(t *testing.T)   { testlock.Transcripts(t, "mutex.txt", newStage) }
func TestDegrade(t *testing.T) { testlock.Transcripts(t, "degrade.txt", newStage) }

// commands are those of transcripts, besides acquisitions. Their results are compared.
var commands = map[string]func(c *call) (any, error){
	"clock":   func(c *call) (any, error) { return time.Since(c.began), nil },
	"context": newContext,
	"cancel":  func(c *call) (any, error) { c.Things[c.Words[0]].(*ending).end(c.Causes[c.Words[1]]); return nil, nil },
	"scope": func(c *call) (any, error) {
		background := context.WithoutCancel(c.Context())
		return c.process(c.Words[0]).Scope(c.under()).Context(background), nil
	},
	"cause": func(c *call) (any, error) { return nil, context.Cause(c.context(c.Words[0])) },
	"err":   func(c *call) (any, error) { return nil, c.context(c.Words[0]).Err() },
	"ends": func(c *call) (any, error) {
		deadline, _ := c.context(c.Words[0]).Deadline()
		return time.Until(deadline), nil
	},

	"release":    func(c *call) (any, error) { return nil, c.lock(c.Words[0]).Release(c.under()) },
	"background": func(c *call) (any, error) { c.lock(c.Words[0]).ReleaseInBackground(c.under()); return nil, nil },
	"abandon": func(c *call) (any, error) {
		c.lock(c.Words[0]).Abandon(c.under(), c.Causes[c.Words[1]])
		return nil, nil
	},
	"exchange": func(c *call) (any, error) {
		return nil, c.lock(c.Words[0]).Exchange(c.under(), claims(c, strings.Join(c.Words[1:], " ")), "")
	},
	"merge": func(c *call) (any, error) {
		var locks []*pathlock.Lock
		for _, name := range c.Words {
			locks = append(locks, c.lock(name).Lock)
		}
		return nil, pathlock.Merge(c.under(), locks)
	},
	"downgrade": func(c *call) (any, error) { return nil, c.lock(c.Words[0]).Downgrade(c.under()) },
	"force": func(c *call) (any, error) {
		lock := c.lock(c.Words[1])
		return nil, c.process(c.Words[0]).ForceRelease(c.under(), lock.Tree(), lock.by.Scope(lock.Context()).Owner())
	},
	"others": func(c *call) (any, error) {
		lock, err := c.process("afar").Acquire(c.under(), request(c, strings.Join(c.Words, " ")))
		if err == nil {
			err = lock.Release(c.under())
		}
		return nil, err
	},

	"hold": hold,
	"detach": func(c *call) (any, error) {
		token, err := c.lock(c.Words[0]).Detach(c.under())
		return c.called(token), err
	},
	"attach": attachToken,
	"refresh": func(c *call) (any, error) {
		until, err := c.process(c.Words[0]).Refresh(c.under(), c.token(c.Words[1]), c.Time(c, 2))
		return time.Until(until), err
	},
	"drop": func(c *call) (any, error) {
		return nil, c.process(c.Words[0]).ReleaseToken(c.under(), c.token(c.Words[1]))
	},

	"until":  func(c *call) (any, error) { return time.Until(c.lock(c.Words[0]).Until()), nil },
	"claims": func(c *call) (any, error) { return testlock.Text(c.lock(c.Words[0]).Claims()), nil },
	"waited": func(c *call) (any, error) { return c.lock(c.Words[0]).Waited(), nil },
	"degraded": func(c *call) (any, error) {
		lock := c.lock(c.Words[0])
		return lock.Degraded() && lock.Fence() == 0, nil
	},
	"fence": compareFences,
	"holders": func(c *call) (any, error) {
		snapshot, err := c.process("afar").Snapshot(c.under(), tree(c, "plan"))
		return len(snapshot.Holders), err
	},
	"inway": func(c *call) (any, error) {
		snapshot, err := c.process("afar").Snapshot(c.under(), tree(c, "plan"))
		req := request(c, strings.Join(c.Words, " "))
		var found []pathlock.Claim
		for _, b := range snapshot.InTheWay("", req.Gate, req.Claims) {
			found = append(found, pathlock.Claim{Path: b.Path, Mode: b.Mode})
		}
		return testlock.Text(found), err
	},

	"fail":   func(c *call) (any, error) { c.fail(); return nil, nil },
	"stall":  func(c *call) (any, error) { c.process(c.Words[0]).stall(c.Words[1:]); return nil, nil },
	"resume": func(c *call) (any, error) { close(c.process(c.Words[0]).through); return nil, nil },
	"hang": func(c *call) (any, error) {
		c.process(c.Words[0]).set(func(ctx context.Context) error {
			<-ctx.Done()
			return errors.Join(pathlock.ErrUnavailable, ctx.Err())
		}, c.Words[1:]...)
		return nil, nil
	},
	"heal": func(c *call) (any, error) { c.process(c.Words[0]).set(nil); return nil, nil },
	"suspend": func(c *call) (any, error) {
		pathlock.SuspendHost(c.process(c.Words[0]).Locker, c.Time(c, 1))
		return nil, nil
	},
	"shutdown": func(c *call) (any, error) {
		ctx, stop := context.WithTimeout(c.under(), cmp.Or(c.Time(c, 1), time.Hour))
		defer stop()
		return nil, c.process(c.Words[0]).Shutdown(ctx)
	},
	"since": func(c *call) (any, error) {
		if at := c.process(c.Words[0]).Degraded(); !at.IsZero() {
			return time.Since(at), nil
		}
		return "never", nil
	},

	"calls": func(c *call) (any, error) { return listed(c.some(c.process(c.Words[0]).store.Calls())), nil },
	"count": func(c *call) (any, error) { return len(c.some(c.process(c.Words[0]).store.Calls())), nil },
	"events": func(c *call) (any, error) {
		events := c.process(c.Words[0]).seen.since()
		if slices.Contains(c.Words, "sorted") {
			slices.Sort(events)
		}
		return listed(events), nil
	},
	"log": func(c *call) (any, error) {
		p := c.process(c.Words[0])
		defer p.log.Reset()
		return listed(strings.Split(strings.TrimSpace(p.log.String()), "\n")), nil
	},
}

// some returns the calls that begin with the second word, if there is one.
func (c *call) some(calls []string) []string {
	return slices.DeleteFunc(calls, func(call string) bool { return len(c.Words) > 1 && !strings.HasPrefix(call, c.Words[1]) })
}

func listed(lines []string) string { return cmp.Or(strings.Join(lines, " + "), "none") }

func newContext(c *call) (any, error) {
	ctx, end := context.WithCancelCause(c.under())
	if d := c.Time(c, 0); d > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, d)
		return &ending{ctx, func(cause error) { end(cause); stop() }}, nil
	}
	return &ending{ctx, end}, nil
}

// hold leaves a hold of ten minutes behind, and returns its token.
func hold(c *call) (any, error) {
	req := request(c, strings.Join(c.Words[1:], " "))
	req.Lease = 10 * time.Minute
	lock, err := c.process(c.Words[0]).Acquire(c.under(), req)
	testerr.Must(c, err)
	return lock.Detach(c.under())
}

func attachToken(c *call) (any, error) {
	p, opts := c.process(c.Words[0]), []pathlock.AttachOption(nil)
	if c.Options["renewed"] == "no" {
		opts = append(opts, pathlock.WithoutRenewal())
	}
	lock, err := p.Attach(c.under(), c.token(c.Words[1]), opts...)
	if err != nil {
		return nil, err
	}
	return &held{lock, p}, nil
}

func compareFences(c *call) (any, error) {
	one, other := c.lock(c.Words[0]).Fence(), c.lock(c.Words[1]).Fence()
	if one == 0 || other == 0 {
		return nil, fmt.Errorf("fences %d and %d", one, other)
	}
	return map[int]string{-1: "earlier", 0: "same", 1: "later"}[cmp.Compare(one, other)], nil
}
