package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/sample-app/internal/logging"
)

// text is what a log has written.
type text struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements [io.Writer].
func (l *text) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(b)
}

// lines takes the lines out of a log, without their times.
func (l *text) lines() (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buffer.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, line)
	}
	l.buffer.Reset()
	return all
}

// An outage is a line in each interval, which says how many it leaves out. What is another failure
// is another line.
func TestAKindOfRecordIsOneLineInAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out text
		log := logging.New(&out, "text")
		fail := func(n int, failure pathlock.Failure, status int) {
			for i := range n {
				log.With("instance", "a").Warn("request failed", "error", fmt.Errorf("port %d: %w", i, failure.New("away")), "status", status)
			}
		}
		expect := func(want ...string) {
			t.Helper()
			if got := out.lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("logged:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		fail(100, pathlock.FailureDatabase, 503)
		fail(1, pathlock.FailureLockStore, 503)
		expect(`level=WARN msg="request failed" instance=a error="port 0: away" status=503`,
			`level=WARN msg="request failed" instance=a error="port 0: away" status=503`)
		time.Sleep(logging.Every)
		fail(7, pathlock.FailureDatabase, 503)
		expect(`level=WARN msg="request failed" instance=a error="port 0: away" status=503 repeated=99`)
		time.Sleep(logging.Every)
		fail(1, pathlock.FailureLockStore, 503)
		expect(`level=WARN msg="request failed" instance=a error="port 0: away" status=503`)
		for _, text := range []string{"one", "another", "one"} {
			log.Error("request failed", "error", errors.New(text), "status", 500)
		}
		expect(`level=ERROR msg="request failed" error=one status=500`, `level=ERROR msg="request failed" error=another status=500`)
	})
}

func TestALogInJSON(t *testing.T) {
	var out bytes.Buffer
	log := logging.New(&out, logging.JSON)
	for status := range 2 {
		log.Warn("request failed", "status", status)
	}
	for line := range strings.Lines(out.String()) {
		var record struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Msg != "request failed" {
			t.Errorf("%q: %v", line, err)
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %s", n, &out)
	}
}
