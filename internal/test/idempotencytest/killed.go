package idempotencytest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testchild"
)

// The variables that tell a further process of the test program what to do.
const (
	urlVariable  = "PATHLOCK_TEST_IDEMPOTENCY_URL"
	pathVariable = "PATHLOCK_TEST_IDEMPOTENCY_PATH"
	keyVariable  = "PATHLOCK_TEST_IDEMPOTENCY_KEY"
	stepVariable = "PATHLOCK_TEST_IDEMPOTENCY_STEP"
)

// Child serves one request, or consumes one message, up to the step at which it is killed, where
// the program is a further process of the tests. It reports whether that is so. Call it first in
// TestMain.
func Child(dialector func(url string) gorm.Dialector) bool {
	url := os.Getenv(urlVariable)
	if url == "" {
		return false
	}
	s, err := openShop(dialector, url, idempotency.Config{Lease: time.Second})
	if err != nil {
		fmt.Println("failed:", err)
		return true
	}
	s.at = func(step string) {
		if step == os.Getenv(stepVariable) {
			fmt.Println("at", step)
			select {}
		}
	}
	a := s.send(context.Background(), ordering(os.Getenv(pathVariable), os.Getenv(keyVariable)))
	fmt.Println("failed:", a.status, a.body)
	return true
}

// checkKilled kills the process of the first request at each step, and sends repetitions, twice.
func (d Database) checkKilled(t *testing.T) {
	s := d.open(t, idempotency.Config{Wait: time.Minute, Lease: time.Second})
	const begun, over = "claimed written recorded", "committed answered finished"
	type outcome struct {
		path, steps string
		status      int
		replayed    bool
	}
	outcomes := []outcome{
		{"/recorded", begun, http.StatusCreated, false}, {"/recorded", over, http.StatusCreated, true},
		{"/plain", begun, http.StatusCreated, false}, {"/plain", "committed answered", http.StatusConflict, false}, {"/plain", "finished", http.StatusCreated, true},
		{once, begun, http.StatusCreated, false}, {once, "committed", http.StatusCreated, true},
	}
	wants := make(map[string]outcome) // by keys
	for _, o := range outcomes {
		for step := range strings.FieldsSeq(o.steps) {
			k := key()
			child := testchild.Start(t, urlVariable+"="+d.URL, pathVariable+"="+o.path, keyVariable+"="+k, stepVariable+"="+step)
			child.Says("at " + step)
			child.Kill()
			o.steps = step
			wants[k] = o
		}
	}
	for k, want := range wants {
		t.Run(want.path+" "+want.steps, func(t *testing.T) {
			one := ordering(want.path, k)
			first, second := s.send(t.Context(), one), s.send(t.Context(), one)
			lost := first.status == http.StatusConflict && strings.Contains(first.body, "idempotency-answer-lost")
			if first.status != want.status || first.replayed != want.replayed || lost != (want.status == http.StatusConflict) {
				t.Errorf("%d %q, replayed: %v, want %d, %v", first.status, first.body, first.replayed, want.status, want.replayed)
			}
			if second.status != first.status || second.body != first.body {
				t.Errorf("%d %q, then %d %q", first.status, first.body, second.status, second.body)
			}
			s.expectOrders(t, k, 1)
		})
	}
}
