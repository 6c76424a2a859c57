package anystore_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Whatever the URL, a call ends at the latest the URL's time-out after it began, the first one
// included, which may have to make tables. Then the store does not answer.
func TestTimeout_callsEndInTime(t *testing.T) {
	const timeout, slack = 700 * time.Millisecond, 500 * time.Millisecond
	for url, says := range map[string]string{
		"redis://:hidden@ADDRESS?timeout=700ms":                                    "does not answer",
		"redis+cluster://ADDRESS?timeout=700ms":                                    "does not answer",
		"redis+sentinel://main@ADDRESS?timeout=700ms&pool_size=2":                  "does not answer",
		"mysql://user:hidden@tcp(ADDRESS)/locks?timeout=700ms":                     "does not answer",
		"postgres://user:hidden@ADDRESS/locks?timeout=700ms&sslmode=disable":       "does not answer",
		"zk://user:hidden@ADDRESS?timeout=700ms":                                   "does not answer",
		"etcd://ADDRESS?timeout=700ms":                                             "does not answer",
		"quorum:memory://|redis://:hidden@ADDRESS|redis://ADDRESS/1|timeout=233ms": "is a quorum of which too few members serve",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // it says nothing
			testerr.Must(t, err)
			t.Cleanup(func() { _ = listener.Close() })
			store := open(t, strings.ReplaceAll(url, "ADDRESS", listener.Addr().String()))
			began := time.Now()
			_, err = pathlock.New(store).Mutex("silence").TryLock(t.Context())
			if took := time.Since(began); took > timeout+slack {
				t.Errorf("it took %v", took)
			}
			if !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || anystore.Trouble(err) != says || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%v: the lock store %s, want that it %s", err, anystore.Trouble(err), says)
			}
		})
	}
}
