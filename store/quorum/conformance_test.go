package quorum_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// generous is a time to answer that no member exceeds on a busy machine.
const generous = 10 * time.Second

// busy is a lease that outlasts a test's calls where many suites run at once.
const busy = time.Second

func TestConformance(t *testing.T) {
	for _, members := range []int{3, 5} {
		t.Run(fmt.Sprintf("%d memstores", members), func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) pathlock.Store {
				return newQuorum(t, memstores(members), quorum.WithTimeout(generous))
			}, storetest.Leases(busy))
		})
	}
}

// memstores returns n new stores.
func memstores(n int) []pathlock.Store {
	stores := make([]pathlock.Store, n)
	for i := range stores {
		stores[i] = memstore.New()
	}
	return stores
}

// newQuorum returns a quorum that is closed at the end of the test.
func newQuorum(t testing.TB, stores []pathlock.Store, opts ...quorum.Option) *quorum.Store {
	t.Helper()
	s, err := quorum.New(stores, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*generous)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("closing the quorum: %v", err)
		}
	})
	return s
}

// TestConformanceOneDown: one of three members never answers, or refuses from the start.
// What finding that out costs is in TestOneMasterDown.
func TestConformanceOneDown(t *testing.T) {
	for name, down := range map[string]struct {
		member int
		mode   mode
		// timeout is paid once by each store where the member never answers.
		timeout time.Duration
	}{
		"the first refuses":        {0, refusing, generous},
		"the last refuses":         {2, refusing, generous},
		"the first never answers":  {0, hanging, 1500 * time.Millisecond},
		"the second never answers": {1, hanging, 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) pathlock.Store {
				links, members := links(memstores(3))
				links[down.member].set(down.mode)
				s := newQuorum(t, members, quorum.WithTimeout(down.timeout))
				findSilent(t, s)
				return s
			}, storetest.Leases(busy))
		})
	}
}
