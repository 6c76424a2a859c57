package redisstore

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

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
			if answer, err := lua.ParseReply(c.Val()); err == nil {
				h.answers <- answer.Status
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
	hook := withdrawals{store.scripts.withdraw.SHA(), make(chan string, 100)}
	client.AddHook(hook)
	// All scripts are there, and so is the connection.
	warm := ask(newTree(t), x("/a"))
	take(t, store, warm)
	if err := store.withdraw(t.Context(), keyOf(warm), 0); err != nil {
		t.Fatal(err)
	}
	<-hook.answers
	server.signal(syscall.SIGSTOP)
	return server, store, hook
}

// TestTakeBackFromServerThatHung: what a server grants that nobody waits for any more is given back
// long before the lease would have ended.
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

// TestTakeBackNotOfWhatIsMadeAgain: a request that fails and is made again, and then granted, stays
// granted.
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
		if errors.Is(err, errWithdrawn) {
			// It has been taken back first, and stays so.
			snapshot, err := server.store().Snapshot(t.Context(), again.Tree)
			if err != nil || len(snapshot.Holders)+len(snapshot.Waiters) > 0 {
				t.Errorf("%v, error %v; want that nobody holds or waits", snapshot, err)
			}
			return
		}
		if !errors.Is(err, pathlock.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if err := store.Close(context.WithoutCancel(t.Context())); err != nil { // after a last try of all that there is to take back
		t.Fatal(err)
	}
	requireHeld(t, server.store(), again)
}

// TestTakeBackOutlivesTheLease: a server that hung for longer than the lease grants what it still
// has before itself, on whichever way, and that is given back.
func TestTakeBackOutlivesTheLease(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, s *Store, req *pathlock.Acquisition){
		"the thin way": func(*testing.T, *Store, *pathlock.Acquisition) {},
		"the short way": func(t *testing.T, s *Store, req *pathlock.Acquisition) {
			for _, path := range []string{"/b", "/c"} {
				take(t, s, ask(req.Tree, x(path)))
			}
		},
		"the long way": func(_ *testing.T, _ *Store, req *pathlock.Acquisition) { req.Gate, req.Claims = true, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t)
			store := server.store(WithTimeout(200 * time.Millisecond))
			lost := ask(newTree(t), x("/a"))
			lost.Lease = 3 * time.Second
			prepare(t, store, &lost)
			take(t, store, ask(newTree(t), x("/warm"))) // the script is there, and so is the connection
			server.signal(syscall.SIGSTOP)
			if _, err := store.Acquire(t.Context(), lost); !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("acquire: %v, want ErrUnavailable", err)
			}
			time.Sleep(10 * time.Second)
			server.signal(syscall.SIGCONT)
			resumed := time.Now()
			next := ask(lost.Tree, x("/a"))
			next.Wait = long
			take(t, server.store(), next)
			if took := time.Since(resumed); took > lost.Lease-time.Second/2 {
				t.Errorf("it was free after %v", took)
			}
		})
	}
}
