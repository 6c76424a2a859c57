package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// childVariable turns the test binary into the program, so that tests can run the program as a
// process.
const childVariable = "PATHLOCK_SAMPLE_TEST_CHILD"

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	if os.Getenv(childVariable) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// program returns the program as a process of its own, in a folder of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	testerr.Must(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = t.TempDir()
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PATHLOCK_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, childVariable+"=1")
	return cmd
}

// served is a running instance.
type served struct {
	cmd *exec.Cmd
	url string
	// message is its first lines.
	message []string
}

// serve starts an instance, and waits until it has written its first lines.
func serve(t *testing.T, cmd *exec.Cmd, lines int) *served {
	t.Helper()
	out := started(t, cmd)
	testserver.Await(t, "the first lines are there", func() bool { return strings.Count(out.String(), "\n") >= lines })
	s := &served{cmd: cmd}
	for _, line := range strings.Split(out.String(), "\n")[:lines] {
		s.message = append(s.message, strings.TrimSpace(line))
	}
	s.url = "http://" + strings.TrimPrefix(s.message[0], instance.Listening)
	return s
}

// send sends a request on a connection of its own.
func (s *served) send(ctx context.Context, method, path, body string) (apitest.Answer, error) {
	return (&apitest.API{URL: s.url}).Try(ctx, method, path, body, "Connection", "close")
}

// stop sends SIGTERM.
func (s *served) stop(t *testing.T) {
	t.Helper()
	testerr.Must(t, s.cmd.Process.Signal(syscall.SIGTERM))
}

// blocked has a request hold a path lock and wait for the database, which somebody else writes to.
// It returns what ends the wait, and the answer.
func (s *served) blocked(t *testing.T, db *plans.DB) (unblock func(), answered <-chan string) {
	t.Helper()
	made, err := s.send(t.Context(), "POST", "/api/projects/p/plans", `{"name":"x"}`)
	if err != nil || made.Status != http.StatusCreated {
		t.Fatalf("%d %s %v", made.Status, made.Body, err)
	}
	blocker := db.Write.Begin()
	if blocker.Error != nil {
		t.Fatal(blocker.Error)
	}
	answer := make(chan string, 1)
	go func() {
		late, err := s.send(t.Context(), "POST", "/api/plans/1/suites", `{"parent_id":1,"name":"late"}`)
		answer <- fmt.Sprintf("%d %v %s", late.Status, err, late.Body)
	}()
	testserver.Await(t, "the request holds a lock", func() bool {
		metrics, err := s.send(t.Context(), "GET", "/metrics", "")
		return err == nil && strings.Contains(string(metrics.Body), "\npathlock_held 1\n")
	})
	return func() {
		t.Helper()
		testerr.Must(t, blocker.Rollback().Error)
	}, answer
}

// The environment has the same settings as the flags. The first lines say where the instance
// listens, and with what it works.
func TestServeMessage(t *testing.T) {
	cmd := program(t)
	cmd.Env = append(cmd.Env, "PATHLOCK_ADDR=127.0.0.1:0", "PATHLOCK_LOCKS=off://", "PATHLOCK_ASSERT=false")
	s := serve(t, cmd, 5)
	want := []string{"database  sqlite://pathlock-sample.db", "locks     off:// (no locks)", "assertion off", "no protection at all: trees will be corrupted"}
	if !slices.Equal(s.message[1:], want) {
		t.Errorf("it says %q, want %q", s.message[1:], want)
	}
	s.stop(t)
	testerr.Is(t, "after SIGTERM", cmd.Wait(), nil)
}

// After SIGTERM, the instance accepts nothing more, answers the running request, releases its lock,
// and exits with 0.
func TestDrain(t *testing.T) {
	url := testdb.SQLite(t)
	s := serve(t, program(t, "--addr", "127.0.0.1:0", "--db", url), 4)
	db := testdb.Open(t, url)
	unblock, answered := s.blocked(t, db)
	// Twice, like a program that signals a process and then its group.
	s.stop(t)
	s.stop(t)
	testserver.Await(t, "nothing is accepted any more", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	unblock()
	if answer := <-answered; !strings.HasPrefix(answer, "201 <nil>") {
		t.Errorf("the running request: %s", answer)
	}
	testerr.Is(t, "exit after SIGTERM", s.cmd.Wait(), nil)
	var suites int
	if err := db.Pool().QueryRow(`SELECT COUNT(*) FROM suites WHERE name = 'late'`).Scan(&suites); err != nil || suites != 1 {
		t.Errorf("%d suites (%v), want the one that was answered for", suites, err)
	}
}

// During --drain, /readyz says 503 while everything else is served, and each answer ends its
// connection. So no client with a connection of its own is cut off between two requests.
func TestDrainKeepsServing(t *testing.T) {
	s := serve(t, program(t, "--addr", "127.0.0.1:0", "--db", testdb.SQLite(t), "--drain", "1500ms"), 4)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	// ask sends a request on a connection that is kept.
	ask := func(path string) (status int, closes bool) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		testerr.Must(t, err)
		resp, err := client.Do(req)
		testerr.Must(t, err)
		defer func() { _ = resp.Body.Close() }()
		testerr.Must(t, testerr.Of(io.Copy(io.Discard, resp.Body)))
		return resp.StatusCode, resp.Close
	}
	if status, closes := ask("/readyz"); status != http.StatusOK || closes {
		t.Fatalf("before: %d, closes: %t", status, closes)
	}
	s.stop(t)
	testserver.Await(t, "it is not ready", func() bool {
		status, _ := ask("/readyz")
		return status == http.StatusServiceUnavailable
	})
	if status, closes := ask("/api/projects"); status != http.StatusOK || !closes {
		t.Errorf("while it drains: %d, closes: %t", status, closes)
	}
	testerr.Is(t, "exit after SIGTERM", s.cmd.Wait(), nil)
}

// An instance whose lock store hangs ends in time: what could not be released is left to its lease.
func TestServe_endsWhileTheLockStoreHangs(t *testing.T) {
	redis := testredis.Start(t, testredis.Redis)
	url := testdb.SQLite(t)
	s := serve(t, program(t, "--addr", "127.0.0.1:0", "--db", url, "--locks", "redis://"+redis.Addr+"/0"), 4)
	unblock, answered := s.blocked(t, testdb.Open(t, url))
	redis.Pause()
	s.stop(t)
	unblock()
	if answer := <-answered; !strings.Contains(answer, "<nil>") {
		t.Errorf("the running request: %s", answer)
	}
	began := time.Now()
	_ = s.cmd.Wait()
	if took := time.Since(began); took > instance.ReleaseTimeout+2*time.Second {
		t.Errorf("it took %s to end after its last request, more than %s", took, instance.ReleaseTimeout)
	}
}

// An instance says that it has another lock store than those before it, even if its own did not
// answer at the start.
func TestServe_AnotherLockStore(t *testing.T) {
	const another = "see that all instances have the same lock store"
	redis, db := testredis.Start(t, testredis.Redis), testdb.SQLite(t)
	args := []string{"--addr", "127.0.0.1:0", "--db", db, "--locks"}
	first := started(t, program(t, slices.Concat(args, []string{"sqlite://" + t.TempDir() + "/locks.db"})...))
	testserver.Await(t, "the first instance serves", func() bool { return strings.Contains(first.String(), instance.Listening) })
	redis.Pause()
	second := started(t, program(t, slices.Concat(args, []string{"redis://" + redis.Addr + "/0"})...))
	testserver.Await(t, "the lock store does not answer", func() bool { return strings.Contains(second.String(), "nothing is written until it serves") })
	if strings.Contains(second.String(), another) {
		t.Errorf("before the lock store answers: %s", second)
	}
	redis.Resume()
	testserver.Await(t, "the other lock store is told", func() bool { return strings.Contains(second.String(), another) })
}
