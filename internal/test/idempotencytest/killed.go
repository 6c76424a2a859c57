package idempotencytest

import (
	"fmt"
	"net/http"
	"os"
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
	at := func(step string) {
		if step == os.Getenv(stepVariable) {
			fmt.Println("at", step)
			select {}
		}
	}
	if os.Getenv(pathVariable) == oncePath {
		fmt.Println("failed:", consumeOnce(dialector(url), os.Getenv(keyVariable), at))
		return true
	}
	s, err := openShop(dialector(url), idempotency.Config{Lease: time.Second})
	if err != nil {
		fmt.Println("failed:", err)
		return true
	}
	s.at = at
	a := s.send(ask{path: os.Getenv(pathVariable), key: os.Getenv(keyVariable), body: item(os.Getenv(keyVariable))})
	fmt.Println("failed:", a.status, a.body)
	return true
}

// killChild has a further process come to a step, and kills it there.
func (d Database) killChild(t *testing.T, path, key, step string) {
	t.Helper()
	child := testchild.Start(t, urlVariable+"="+d.URL, pathVariable+"="+path, keyVariable+"="+key, stepVariable+"="+step)
	child.Says("at " + step)
	child.Kill()
}

// checkKilled kills the process of the first request at each step, and sends a repetition.
func (d Database) checkKilled(t *testing.T) {
	s := d.open(t, idempotency.Config{Wait: time.Minute, Lease: time.Second})
	for _, path := range []string{"/recorded", "/plain"} {
		for _, step := range []string{"claimed", "written", "recorded", "committed", "answered", "finished"} {
			t.Run(path[1:]+" "+step, func(t *testing.T) {
				k := key()
				d.killChild(t, path, k, step)
				one := ask{path: path, key: k, body: item(k)}
				a := s.send(one)
				switch {
				case step == "claimed" || step == "written" || step == "recorded":
					a.is(t, http.StatusCreated, false, "")
				case path == "/plain" && step != "finished":
					a.is(t, http.StatusConflict, false, "idempotency-answer-lost")
				default:
					a.is(t, http.StatusCreated, true, "")
				}
				if n := s.orders(t, k); n != 1 {
					t.Errorf("%d orders", n)
				}
				if again := s.send(one); again.status != a.status || again.body != a.body {
					t.Errorf("%d %q, then %d %q", a.status, a.body, again.status, again.body)
				}
			})
		}
	}
}
