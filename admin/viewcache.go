package admin

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// lookTimeout is how long the lock store may take to answer a look.
const lookTimeout = 5 * time.Second

// viewCache has the latest view of each tree, and at the zero tree that of all trees, so that many
// viewers cost the lock store no more than one.
type viewCache struct {
	log   *slog.Logger
	mu    sync.Mutex
	known map[pathlock.Tree]*cachedView
}

// look looks at the lock store, whose clock is ahead of this process's.
type look func(ctx context.Context) (view any, ahead time.Duration, err error)

// cachedView is what was seen at the last look.
type cachedView struct {
	mu    sync.Mutex
	at    time.Time
	view  any
	ahead time.Duration
	err   error
}

// of returns the latest view of a tree, and looks again if that is older than every. A viewer that
// leaves ends no look, because others may wait for it.
func (c *viewCache) of(ctx context.Context, tree pathlock.Tree, every time.Duration, look look) (view any, ahead time.Duration, err error) {
	c.mu.Lock()
	k := c.known[tree]
	if k == nil {
		for other, old := range c.known {
			if old.mu.TryLock() {
				if time.Since(old.at) > 10*every {
					delete(c.known, other)
				}
				old.mu.Unlock()
			}
		}
		k = &cachedView{}
		c.known[tree] = k
	}
	c.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.at) >= every*9/10 { // a viewer's clock may be a little early
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
		defer stop()
		failed := k.err != nil
		if k.view, k.ahead, k.err = look(ctx); k.err != nil && !failed {
			c.log.WarnContext(ctx, "pathlock admin: a look at the locks failed", "tree", tree.String(), "error", k.err)
		}
		k.at = time.Now()
	}
	return k.view, k.ahead, k.err
}

// forget makes the next viewer look anew at a tree.
func (c *viewCache) forget(tree pathlock.Tree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, tree)
	delete(c.known, pathlock.Tree{})
}

// answer sends a view, with the time of the answer, or 304 to a client that has the same. The time
// is by the same clock as the view's times, which is ahead of this process's by ahead.
func answer(w http.ResponseWriter, r *http.Request, view any, ahead time.Duration) {
	body := encode(view)
	etag := `"` + hashed(string(body)) + `"`
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append([]byte(`{"now":"`+time.Now().Add(ahead).UTC().Format(time.RFC3339Nano)+`",`), body[1:]...))
}

// encode returns JSON. What it is given can always be encoded.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}
