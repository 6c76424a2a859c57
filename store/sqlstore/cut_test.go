package sqlstore_test

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// Wherever the connection is cut, a request that is sent again is granted once, a release that is
// sent again is carried out once, and nothing is left. The store itself sends reads again.
func TestCut(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		for _, late := range []bool{false, true} {
			t.Run(map[bool]string{false: "before the server has a message", true: "before the client has the answer"}[late], func(t *testing.T) {
				t.Parallel()
				far, proxy := d.behind(t, 0)
				near := d.store(t) // whose connections nobody cuts
				for name, s := range map[string]*sqlstore.Store{
					"a store of its own": far.store(t), "the application's pool": far.on(t, far.pool(t)),
				} {
					t.Run(name, func(t *testing.T) { cutAtEachStep(t, near, s, proxy, late) })
				}
			})
		}
	})
}

func cutAtEachStep(t *testing.T, near, s *sqlstore.Store, proxy *testnet.Proxy, late bool) {
	tree := testlock.Tree(t)
	ctx := t.Context()
	left(t, s, tree) // it has connected
	proxy.CutAt(1, late)
	if left(t, s, tree); !proxy.WasCut() {
		t.Error("the read was not cut")
	}
	var last uint64
	const most = 60
	for step := 1; step <= most; step++ {
		req := testlock.Ask(tree, x("/a"))
		proxy.CutAt(step, late)
		_, err := s.Acquire(ctx, req)
		wasCut := proxy.WasCut()
		proxy.CutAt(0, false)
		if err != nil && !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("acquire, cut at message %d: %v", step, err)
		}
		grant, err := s.Acquire(ctx, req)
		if errors.Is(err, pathlock.ErrUnavailable) && wasCut {
			// The message was one without an answer, so its connection was cut under this request.
			grant, err = s.Acquire(ctx, req)
		}
		if err != nil {
			t.Fatalf("acquire after a cut at message %d: %v", step, err)
		}
		if grant.Fence <= last {
			t.Errorf("acquire after a cut at message %d: the fence %d after %d", step, grant.Fence, last)
		}
		last = grant.Fence

		proxy.CutAt(step, late)
		err = s.Release(ctx, tree, req.Owner, req.Grant)
		wasCut = proxy.WasCut() || wasCut
		proxy.CutAt(0, false)
		if err != nil {
			if !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("release, cut at message %d: %v", step, err)
			}
			if err := s.Release(ctx, tree, req.Owner, req.Grant); err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release after a cut at message %d: %v", step, err)
			}
		}
		left(t, near, tree)
		if !wasCut {
			if step == 1 {
				t.Fatal("nothing was cut")
			}
			return
		}
	}
	t.Errorf("%d messages, and still not done", most)
}
