package zkstore

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestMain(m *testing.M) { testserver.Main(m, 4) }

// TestConformance has clients on several servers, which may be behind the leader.
func TestConformance(t *testing.T) {
	servers := testzk.StartEnsemble(t).Hosts()
	first, _, _ := strings.Cut(servers, ",")
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newStore(t, servers) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			proxy := testnet.StartProxy(t, first, 0)
			return newStore(t, servers), newStore(t, proxy.Addr()), func() { _ = proxy.Close() }
		}), storetest.Silence(func(t *testing.T) storetest.Silent {
			proxy := testnet.StartProxy(t, first, 0)
			store := newStore(t, proxy.Addr(), WithTimeout(time.Second))
			t.Cleanup(proxy.Resume)
			return storetest.Silent{Store: store, Timeout: time.Second, Stop: proxy.Pause, Resume: proxy.Resume, Other: newStore(t, servers)}
		}))
}

// newStore returns a store on some servers that is closed at the end of the test.
func newStore(t testing.TB, servers string, opts ...Option) *store {
	t.Helper()
	made, err := New(strings.Split(servers, ","), testlock.Patiently(WithTimeout, opts)...)
	testerr.Must(t, err)
	s := made.(*store)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Second)
		defer cancel()
		_ = s.Close(ctx) // the servers may have gone by now
	})
	return s
}

func x(path string) pathlock.Claim { return testlock.X(path) }
