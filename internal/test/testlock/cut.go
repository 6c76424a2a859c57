package testlock

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
)

// Cut cuts the connection to a server once, at each message of a store in turn, before it reaches
// the server and after it was carried out. Every operation still succeeds, and takes effect once.
// open returns a store on an address, and other is another client of the server.
func Cut(t *testing.T, server string, open func(addr string) pathlock.Store, other pathlock.Store) {
	for _, answers := range []bool{false, true} {
		t.Run(fmt.Sprintf("answers=%v", answers), func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				proxy := testnet.StartProxy(t, server, 0)
				s := open(proxy.Addr())
				proxy.CutAt(n, answers)
				story(t, s, other, proxy)
				testerr.Must(t, errors.Join(s.Close(t.Context()), proxy.Close()))
				if !proxy.WasCut() {
					if n < 20 {
						t.Error("too few messages: the proxy does not see them")
					}
					return
				}
				if t.Failed() {
					t.Fatalf("at message %d", n)
				}
			}
		})
	}
}

// story has every operation in it.
func story(t *testing.T, s, other pathlock.Store, proxy *testnet.Proxy) {
	t.Helper()
	ctx, tree := t.Context(), Tree(t)
	first, third := Ask(tree, X("/a")), Ask(tree, X("/b"))
	Take(t, s, first)
	Take(t, s, third)
	Holders(t, other, tree, 2)
	w := Queue(t, s, Ask(tree, X("/a")))
	Release(t, s, first)
	fence := w.Granted().Fence
	if again := Take(t, s, w.Acquisition); again.Fence != fence {
		t.Errorf("the same request has the fences %d and %d", fence, again.Fence)
	}
	Keeps(t, s, w.Acquisition)
	got, err := s.Transfer(ctx, pathlock.Transfer{Tree: tree, From: w.Owner, To: "d-" + w.Owner, Lease: Long})
	if err != nil || len(got.Grants) != 1 || got.Grants[0].Fence != fence {
		t.Errorf("transfer: %+v, error %v", got, err)
	}
	testerr.Is(t, "a request that is in the way of a hold", testerr.Of(s.Acquire(ctx, Ask(tree, X("/a/b")))), pathlock.ErrConflict)
	w.Owner = "d-" + w.Owner
	Release(t, s, w.Acquisition)
	testerr.Is(t, "force release", s.ForceRelease(ctx, tree, third.Owner), nil)
	cut := proxy.WasCut()
	// A store that has to send a release twice may take the first one to have been carried out.
	if err := s.Release(ctx, tree, third.Owner, third.Grant); !errors.Is(err, pathlock.ErrNotHeld) && (err != nil || cut || !proxy.WasCut()) {
		t.Errorf("a release of what was taken away: %v, want ErrNotHeld", err)
	}
	Holders(t, other, tree, 0)
}
