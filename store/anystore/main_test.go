package anystore_test

import (
	"testing"

	"go.uber.org/goleak"
)

// The pool of go-redis dials a server that does not answer once a second, and only then checks
// whether it has been closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}
