//go:build unix

package election_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

const (
	// candidateVariable has this program be a candidate instead of running its tests. Its value is
	// the prefix of the keys in Redis.
	candidateVariable = "PATHLOCK_TEST_CANDIDATE"
	// short is the lease of candidates that are killed or stopped.
	short = time.Second
)

// candidate is another process that leads.
type candidate struct {
	t       *testing.T
	process *exec.Cmd
	said    *bufio.Scanner
	term    uint64
}

// lead is the program of a candidate. It leads until its process was stopped, and says what it
// believes then.
func lead(t *testing.T, prefix string) {
	e := newElection(t, openRedis(t, testserver.Redis(t), prefix))
	e.Lease = short
	leadership := campaign(t.Context(), t, e, strconv.Itoa(os.Getpid()))
	ctx := leadership.Context()
	// The clock says when the process was stopped. Nothing else runs between that and the question.
	last := time.Now()
	if ctx.Err() == nil {
		fmt.Println("leads in term", leadership.Term())
	}
	for now := last; now.Sub(last) <= short; now = time.Now() {
		last = now
	}
	err := ctx.Err()
	switch cause := context.Cause(ctx); {
	case err == nil:
		fmt.Println("acts")
	case errors.Is(cause, pathlock.ErrLost):
		fmt.Println("was told")
	default:
		fmt.Println(strings.ReplaceAll(fmt.Sprint(cause), "\n", " "))
	}
	if err := leadership.Resign(t.Context()); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("resigned: %v, want ErrLost", err)
	}
}

// startCandidate returns when the other process leads.
func startCandidate(t *testing.T, prefix string) *candidate {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAStoppedLeaderIsToldBeforeItActs$", "-test.timeout=60s")
	process.Env = append(os.Environ(), candidateVariable+"="+prefix,
		"GOMAXPROCS=1") // so that no timer fires between the candidate's look at the clock and its question
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	c := &candidate{t: t, process: process, said: bufio.NewScanner(out)}
	if _, err := fmt.Sscanf(c.says(), "leads in term %d", &c.term); err != nil {
		t.Fatalf("the candidate says %q: %v", c.said.Text(), err)
	}
	return c
}

func (c *candidate) says() string {
	c.t.Helper()
	if !c.said.Scan() {
		c.t.Fatalf("the candidate says nothing: %v", c.said.Err())
	}
	return c.said.Text()
}

func (c *candidate) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.process.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// end waits for the end of the process, and returns how it ended.
func (c *candidate) end() error {
	for c.said.Scan() { // the test's own PASS
		continue
	}
	return c.process.Wait()
}

// succeeded returns the candidate that waits behind a leader which has just ended without a
// resignation. It must lead soon after the lease, in a later term.
func succeeded(t *testing.T, old *candidate, next <-chan *election.Leadership) *election.Leadership {
	t.Helper()
	leadership := within(t, "the next candidate leads", next)
	if leadership == nil || leadership.Term() <= old.term {
		t.Fatalf("%v leads after term %d", leadership, old.term)
	}
	return leadership
}

// The process of a leader is killed: the next candidate leads within one lease, and observers see
// it.
func TestAKilledLeaderIsSucceededWithinALease(t *testing.T) {
	url, prefix := testserver.Redis(t), "election-"+rand.Text()
	store := openRedis(t, url, prefix)
	old := startCandidate(t, prefix)
	leaders, _ := watch(t.Context(), t, newElection(t, store).Observe)
	if got := within(t, "the first leader", leaders); got.leader.Term != old.term || got.leader.Value != strconv.Itoa(old.process.Process.Pid) {
		t.Fatalf("an observer sees %v, want term %d", got, old.term)
	}
	next := inBackground(t, store, "next")

	old.signal(syscall.SIGKILL)
	leadership := succeeded(t, old, next)
	if got := within(t, "the next leader", leaders); got.leader.Term != leadership.Term() {
		t.Errorf("an observer sees %v, want term %d", got, leadership.Term())
	}
	resign(t, leadership)
	if err := old.end(); err == nil {
		t.Error("the process has survived SIGKILL")
	}
}

// The process of a leader is stopped past its lease: the next candidate leads meanwhile. When the
// old one runs on, its context says so before it acts, and its late resignation ends nobody else's
// term.
func TestAStoppedLeaderIsToldBeforeItActs(t *testing.T) {
	if prefix := os.Getenv(candidateVariable); prefix != "" {
		lead(t, prefix)
		return
	}
	url, prefix := testserver.Redis(t), "election-"+rand.Text()
	store := openRedis(t, url, prefix)
	for range 2 {
		old := startCandidate(t, prefix)
		next := inBackground(t, store, "next")

		old.signal(syscall.SIGSTOP)
		stopped := time.Now()
		leadership := succeeded(t, old, next)
		// The old leader's own clock has to see its lease end too: it began earlier.
		time.Sleep(time.Until(stopped.Add(short + short/2)))
		old.signal(syscall.SIGCONT)
		if said := old.says(); said != "was told" {
			t.Errorf("a leader that was stopped past its lease: %q", said)
		}
		if err := old.end(); err != nil {
			t.Error(err)
		}
		if leader, err := newElection(t, store).Leader(t.Context()); err != nil || leader.Term != leadership.Term() {
			t.Errorf("%v leads, %v, want term %d", leader, err, leadership.Term())
		}
		resign(t, leadership)
	}
}
