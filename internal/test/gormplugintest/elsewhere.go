package gormplugintest

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
)

// shared is a store that acts as a server's.
type shared struct{ pathlock.Store }

// Local implements [pathlock.Store].
func (shared) Local() bool { return false }

// checkElsewhere checks that an instance which takes its locks in another store or namespace than
// the first ones is told so at each start, with both, until the place is accepted.
func checkElsewhere(t *testing.T, d Database) {
	right, wrong := shared{memstore.New()}, shared{memstore.New()}
	starts := func(store pathlock.Store, namespace string) (*world, error) {
		w := &world{T: t, trace: new(trace)}
		w.locker = pathlock.New(store, pathlock.WithLogger(slog.New(slog.DiscardHandler)))
		w.db = open(t, d, settings{}, w.trace)
		w.must(w.db.Use(gormplugin.New(w.locker, gormplugin.Model(&Branch{}, gormplugin.Namespace(namespace)), gormplugin.Leaf(&Fruit{}, &Branch{}))))
		return w, gormplugin.VerifyLocks(w.db)
	}
	same := func(store pathlock.Store) {
		t.Helper()
		if _, err := starts(store, "plans"); err != nil {
			t.Errorf("got %v, want nothing: it locks where the others do", err)
		}
	}
	same(offstore.New()) // is not recorded
	var all sync.WaitGroup
	for range instancesAtOnce {
		all.Go(func() { same(right) })
	}
	all.Wait()
	id := func(w *world) string {
		id, err := w.locker.StoreID(t.Context())
		w.must(err)
		return id
	}
	w, err := starts(right, "plans")
	testerr.Must(t, err)
	one := id(w)
	for name, c := range map[string]struct {
		store     pathlock.Store
		namespace string
		here      func(w *world) string
	}{
		"store":     {wrong, "plans", id},
		"namespace": {right, "suites", func(*world) string { return "namespace suites" }},
		"memory":    {memstore.New(), "plans", func(*world) string { return "memory" }},
		"off":       {offstore.New(), "plans", func(*world) string { return "memory" }},
	} {
		for range 2 {
			w, err := starts(c.store, c.namespace)
			if !errors.Is(err, gormplugin.ErrOtherLocks) || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), c.here(w)) {
				t.Errorf("another %s: got %v, want ErrOtherLocks with %q and %q", name, err, one, c.here(w))
			}
		}
	}
	same(right)
	_, err = starts(wrong, "plans")
	_, accept, _ := strings.Cut(err.Error(), "the latter, ")
	w.must(gormplugin.AllowRawWrites(w.db).Exec(accept).Error)
	same(wrong)
	if _, err := starts(right, "plans"); !errors.Is(err, gormplugin.ErrOtherLocks) {
		t.Errorf("the store of before: got %v, want ErrOtherLocks", err)
	}
}
