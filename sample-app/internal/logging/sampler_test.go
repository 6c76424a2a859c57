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

// An outage is a line at once, and then one in each interval that says how many it stands for. What
// is another failure is another line.
func TestAKindOfRecordIsOneLineInAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out text
		log, flush := logging.New(&out, logging.Text)
		fail := func(n int, failure pathlock.Failure, status int) {
			for i := range n {
				log.With("instance", "a").Warn("request failed", "error", fmt.Errorf("port %d: %w", i, failure.New("away")), "status", status)
			}
		}
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if got := out.lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("logged:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		fail(100, pathlock.FailureDatabase, 503)
		fail(1, pathlock.FailureLockStore, 503)
		expect(`level=WARN msg="request failed" instance=a error="port 0: away" status=503`,
			`level=WARN msg="request failed" instance=a error="port 0: away" status=503`)
		time.Sleep(logging.Every)
		expect(`level=WARN msg="request failed" instance=a error="port 99: away" status=503 repeated=99`)
		fail(7, pathlock.FailureDatabase, 503)
		expect()
		time.Sleep(logging.Every)
		expect(`level=WARN msg="request failed" instance=a error="port 6: away" status=503 repeated=7`)
		time.Sleep(2 * logging.Every)
		fail(3, pathlock.FailureDatabase, 503)
		expect(`level=WARN msg="request failed" instance=a error="port 0: away" status=503`)
		flush()
		expect(`level=WARN msg="request failed" instance=a error="port 2: away" status=503 repeated=2`)
		for _, text := range []string{"one", "another", "one"} {
			log.Error("request failed", "error", errors.New(text), "status", 500)
		}
		expect(`level=ERROR msg="request failed" error=one status=500`, `level=ERROR msg="request failed" error=another status=500`)
		flush()
		expect(`level=ERROR msg="request failed" error=one status=500 repeated=1`)
	})
}

func TestALogInJSON(t *testing.T) {
	var out bytes.Buffer
	log, flush := logging.New(&out, logging.JSON)
	for range 2 {
		log.Warn("request failed", "status", 503)
	}
	flush()
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
