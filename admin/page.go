package admin

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Locks is what a page needs of a [pathlock.Locker].
type Locks interface {
	Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error)
	Trees(ctx context.Context) ([]pathlock.Tree, error)
	ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error
}

// Page is the admin page with its API: see the package. Any number of goroutines may use it.
type Page struct {
	locks    Locks
	config   Config
	guard    *guard
	assets   *assets
	refusals refusals
	// unredacted makes texts of what Config.Redact failed with. It is random, so that nobody finds
	// a name by trying.
	unredacted maphash.Seed
	routes     map[string]route
	viewers    chan struct{} // has room for one entry per stream

	// ctx ends with the page, and running counts the feeds, which have to end with it.
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu    sync.Mutex
	feeds map[feedKey]*feed
	// asking is how many requests are being answered, and idle is closed when there are none after
	// the page's end.
	asking int
	idle   chan struct{}
}

// route is what answers below a path.
type route struct {
	methods []string
	serve   func(w http.ResponseWriter, r *http.Request)
	// api says that only the page itself and programs may ask, and no foreign page.
	api bool
}

// releasePath is the path of releases.
const releasePath = "/api/release"

var reading = []string{http.MethodGet, http.MethodHead}

// New returns a page of the locks. The error matches [ErrConfig] if the configuration makes no
// sense; above all, it has to say who may look. Close the page at the end: streams would keep
// [http.Server.Shutdown] waiting.
func New(locks Locks, config Config) (*Page, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Page{
		locks: locks, config: config, guard: newGuard(config),
		viewers: make(chan struct{}, config.MaxViewers), feeds: make(map[feedKey]*feed),
		idle: make(chan struct{}), unredacted: maphash.MakeSeed(),
	}
	if p.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	p.routes = map[string]route{
		"/":             {methods: reading, serve: p.servePage},
		"/openapi.json": {methods: reading, serve: p.serveOpenAPI},
		"/api/about":    {methods: reading, serve: p.serveAbout, api: true},
		"/api/trees":    {methods: reading, serve: p.serveTrees, api: true},
		"/api/tree":     {methods: reading, serve: p.serveTree, api: true},
		"/api/history":  {methods: reading, serve: p.serveHistory, api: true},
		"/api/events":   {methods: reading, serve: p.serveEvents, api: true},
		releasePath:     {methods: []string{http.MethodPost}, serve: p.serveRelease, api: true},
	}
	for name := range p.assets.files {
		p.routes["/assets/"+name] = route{methods: reading, serve: p.serveAsset}
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p, nil
}

// Close ends all event streams and the goroutines that feed them, and returns when they have ended,
// with all requests. Whoever still reads an answer then has three seconds for the rest of it, and a
// release that has begun is done. So it takes 20 seconds at most, and what a slow client does makes
// no difference, nor whether what is in front of the page hides [http.ResponseController] from it.
// Further requests get 503. Register it with [http.Server.RegisterOnShutdown].
func (p *Page) Close() {
	p.mu.Lock()
	if p.ctx.Err() == nil {
		p.stop()
		if p.asking == 0 {
			close(p.idle)
		}
	}
	p.mu.Unlock()
	p.running.Wait()
	most := time.NewTimer(mostClosing)
	defer most.Stop()
	select {
	case <-p.idle:
	case <-most.C:
	}
}

// begin counts a request, for which Close waits. It reports whether the page is open.
func (p *Page) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.asking++
	return true
}

// end is the end of a request.
func (p *Page) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking--; p.asking == 0 && p.ctx.Err() != nil {
		close(p.idle)
	}
}

// ServeHTTP implements [http.Handler].
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer p.limit(w, r)()
	protect(w.Header())
	if err := p.guard.checkHost(r); err != nil {
		p.refuse(w, r, err)
		return
	}
	if err := p.authorized(r, p.config.Authorize(r)); err != nil {
		p.refuse(w, r, err)
		return
	}
	path, ok := p.path(r)
	if ok && path == "" {
		redirect(w, r)
		return
	}
	at, known := p.routes[path]
	if !ok || !known {
		p.refuse(w, r, newProblem(http.StatusNotFound, "not-found", "there is nothing here; the page is mounted at "+p.config.Prefix+"/ (Config.Prefix)"))
		return
	}
	if !slices.Contains(at.methods, r.Method) {
		w.Header().Set("Allow", strings.Join(at.methods, ", "))
		p.refuse(w, r, newProblem(http.StatusMethodNotAllowed, "method-not-allowed", "the path takes "+strings.Join(at.methods, ", ")))
		return
	}
	if at.api {
		if err := p.guard.checkOrigin(r); err != nil {
			p.refuse(w, r, err)
			return
		}
	}
	if !p.begin() {
		p.refuse(w, r, closing())
		return
	}
	defer p.end()
	at.serve(w, r)
}

// redirect sends a browser to the path with a slash at the end, against which the page's links are
// resolved. It does so by a relative address, because a proxy may have changed what is before it.
func redirect(w http.ResponseWriter, r *http.Request) {
	to := "./" + url.PathEscape(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]) + "/"
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusPermanentRedirect)
}

// path returns what a request asks for, below the page's prefix: "/" is the page itself, and "" its
// path without the slash at the end. A path has one spelling: the prefix has to be there, and
// escapes that change the meaning of a path are not followed.
func (p *Page) path(r *http.Request) (string, bool) {
	path, ok := strings.CutPrefix(r.URL.Path, p.config.Prefix)
	return path, ok && r.URL.RawPath == "" && r.URL.Path != ""
}

// authorized turns an authorisation callback's error into the answer.
func (p *Page) authorized(r *http.Request, err error) error {
	if err == nil {
		return nil
	}
	p.config.Log.LogAttrs(r.Context(), slog.LevelDebug, "pathlock admin: refused", slog.String("method", r.Method), slog.Any("error", err))
	if errors.Is(err, ErrUnauthorized) {
		return newProblem(http.StatusUnauthorized, "unauthenticated", "sign in first")
	}
	return newProblem(http.StatusForbidden, "forbidden", "you may not do this")
}

// mayRelease returns who asks if the request may release, and the answer if it may not.
func (p *Page) mayRelease(r *http.Request) (who string, err error) {
	if p.config.AuthorizeRelease == nil {
		return "", newProblem(http.StatusForbidden, "read-only", "the page is read-only: it was mounted without AuthorizeRelease")
	}
	who, err = p.config.AuthorizeRelease(r)
	return who, p.authorized(r, err)
}
