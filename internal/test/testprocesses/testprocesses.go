// Package testprocesses tests a lock store with other processes, which are killed, stopped, and
// many.
package testprocesses

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// The variables that make a test program another process: what it does, in which store, in which
// tree, and with which file.
const (
	roleVariable = "PATHLOCK_TEST_PROCESS"
	urlVariable  = "PATHLOCK_TEST_PROCESS_URL"
	treeVariable = "PATHLOCK_TEST_PROCESS_TREE"
	fileVariable = "PATHLOCK_TEST_PROCESS_FILE"
)

// The lease of the processes, and how much later than that others may be let in.
const (
	lease    = 2 * time.Second
	lateness = 5 * time.Second
)

// long is a lease, or a wait, that no test sees the end of.
const long = time.Minute

// Main is what a process does that [Run] has started. A TestMain calls it first, with what opens
// the store of a URL, and returns if it reports true.
func Main(open func(url string) (pathlock.Store, error)) bool {
	role := os.Getenv(roleVariable)
	if role == "" {
		return false
	}
	store, err := open(os.Getenv(urlVariable))
	if err == nil {
		err = act(role, pathlock.New(store, pathlock.WithLease(lease), pathlock.WithWait(long), pathlock.WithObserver(announcer{})))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// announcer says that the process has begun to wait.
type announcer struct{ pathlock.NopObserver }

func (announcer) Waiting(context.Context, pathlock.Event) { fmt.Println("waits") }

func act(role string, locker *pathlock.Locker) error {
	ctx := context.Background()
	tree, err := pathlock.NewTree("processes", os.Getenv(treeVariable))
	if err != nil {
		return err
	}
	req := pathlock.Request{Tree: tree, Claims: claims()}
	if role == "hold" {
		lock, err := locker.Acquire(ctx, req)
		if err != nil {
			return err
		}
		fmt.Println("holds")
		<-lock.Context().Done()
		fmt.Println("lost")
		return nil
	}
	for range rounds {
		lock, err := locker.Acquire(ctx, req)
		if err != nil {
			return err
		}
		if err := errors.Join(count(os.Getenv(fileVariable)), lock.Release(ctx)); err != nil {
			return err
		}
	}
	fmt.Println("counted")
	return locker.Shutdown(ctx)
}

// rounds is how often each process counts.
const rounds = 25

// count adds one to the number in a file, which others must not do meanwhile.
func count(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600)
}

func claims() []pathlock.Claim { return []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))} }

// scene is a tree, with this process's locker and others' processes.
type scene struct {
	*testing.T
	url    string
	tree   pathlock.Tree
	locker *pathlock.Locker
	store  pathlock.Store
}

// start starts a process.
func (s *scene) start(role string, variables ...string) *testchild.Process {
	s.Helper()
	return testchild.Start(s, append(variables, roleVariable+"="+role, urlVariable+"="+s.url, treeVariable+"="+s.tree.ID())...)
}

// take has this process take what the others want.
func (s *scene) take() *pathlock.Lock {
	s.Helper()
	lock, err := s.locker.Acquire(context.WithoutCancel(s.Context()), pathlock.Request{Tree: s.tree, Claims: claims()})
	testerr.Must(s, err)
	return lock
}

// takeSoon is take, no later than the lease of a process that has just died allows.
func (s *scene) takeSoon() *pathlock.Lock {
	s.Helper()
	began := time.Now()
	lock := s.take()
	if took := time.Since(began); took > lease+lateness {
		s.Errorf("the lease of %v has ended after %v", lease, took)
	}
	return lock
}

func (s *scene) release(lock *pathlock.Lock) {
	s.Helper()
	testerr.None(s, lock.Release(context.WithoutCancel(s.Context())))
}

// Run runs the tests, each with what open returns: a URL, and this process's store on it.
func Run(t *testing.T, open func(t *testing.T) (url string, store pathlock.Store)) {
	t.Helper()
	for name, test := range map[string]func(*scene){
		"the lease of a killed holder ends": func(s *scene) {
			holder := s.start("hold")
			holder.Says("holds")
			holder.Kill()
			s.release(s.takeSoon())
		},
		"a killed waiter keeps nobody for longer than its lease": func(s *scene) {
			held := s.take()
			waiter := s.start("hold")
			waiter.Says("waits")
			waiter.Kill()
			s.release(held)
			s.release(s.takeSoon())
		},
		"a stopped holder loses its lock, and brings nothing back to life": func(s *scene) {
			holder := s.start("hold")
			holder.Says("holds")
			holder.Signal(syscall.SIGSTOP)
			lock := s.takeSoon()
			holder.Signal(syscall.SIGCONT)
			holder.Says("lost")
			snapshot, err := s.store.Snapshot(s.Context(), s.tree)
			if err != nil || len(snapshot.Holders) != 1 || len(snapshot.Waiters) != 0 || snapshot.Holders[0].Fence != lock.Fence() {
				s.Errorf("the tree has %+v, error %v; want this process as the only holder", snapshot, err)
			}
			holder.Kill()
			s.release(lock)
		},
		"a stopped waiter asks again when it goes on": func(s *scene) {
			held := s.take()
			waiter := s.start("hold")
			waiter.Says("waits")
			waiter.Signal(syscall.SIGSTOP)
			s.release(held)
			s.release(s.takeSoon())
			waiter.Signal(syscall.SIGCONT)
			waiter.Says("holds")
			waiter.Kill()
			s.release(s.takeSoon())
		},
		"many processes exclude each other": func(s *scene) {
			file := filepath.Join(s.TempDir(), "count")
			testerr.Must(s, os.WriteFile(file, []byte("0"), 0o600))
			const processes = 4
			var all [processes]*testchild.Process
			for i := range all {
				all[i] = s.start("count", fileVariable+"="+file)
			}
			for _, p := range all {
				p.Says("counted")
			}
			text, err := os.ReadFile(file)
			if want := strconv.Itoa(processes * rounds); err != nil || string(text) != want {
				s.Errorf("counted %s, %v; want %s", text, err, want)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, store := open(t)
			tree, err := pathlock.NewTree("processes", rand.Text())
			testerr.Must(t, err)
			s := &scene{t, url, tree, pathlock.New(store, pathlock.WithLease(long), pathlock.WithWait(long)), store}
			test(s)
			if snapshot, err := store.Snapshot(t.Context(), tree); err != nil || len(snapshot.Holders)+len(snapshot.Waiters) > 0 {
				t.Errorf("left behind: %+v, error %v", snapshot, err)
			}
			testerr.None(t, s.locker.Shutdown(t.Context()))
		})
	}
}
