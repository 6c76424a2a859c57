package admin

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/web"
)

// locker is what a page needs of a [pathlock.Locker].
type locker interface {
	Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error)
	Trees(ctx context.Context) ([]pathlock.Tree, error)
	ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error
}

// page is the admin page with its API.
type page struct {
	locks   locker
	config  Config
	hosts   web.Hosts
	origins *http.CrossOriginProtection
	html    *template.Template
	routes  map[string]*operation
	cache   viewCache
}

// New returns the page of the locks, which are those of a [pathlock.Locker], with its API: see the
// package. Any number of goroutines may use it. The error matches [ErrConfig] if the configuration
// makes no sense; above all, it has to say who may look.
func New(locks locker, config Config) (http.Handler, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &page{
		locks: locks, config: config, hosts: web.NewHosts(config.Hosts...), origins: http.NewCrossOriginProtection(),
		html:  template.Must(template.ParseFS(embedded, "assets/page.html")), // which is known to parse
		cache: viewCache{log: config.Log, known: make(map[pathlock.Tree]*cachedView)},
	}
	p.routes = p.operations()
	p.routes["/"] = &operation{method: http.MethodGet, anybody: true, serve: p.servePage}
	p.addAssets()
	return p, nil
}

// ServeHTTP implements [http.Handler].
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if !p.hosts.Are(r) {
		fail(w, newProblem(http.StatusMisdirectedRequest, "misdirected",
			"the page does not answer under this name; if it should, as behind a proxy on the same host, list the name in Config.Hosts"))
		return
	}
	if err := p.authorized(r, p.config.Authorize(r)); err != nil {
		fail(w, err)
		return
	}
	// A path has one spelling: the prefix has to be there, and escapes that change the meaning of a
	// path are not followed.
	path, ok := strings.CutPrefix(r.URL.Path, p.config.Prefix)
	ok = ok && r.URL.RawPath == "" && r.URL.Path != ""
	if ok && path == "" {
		redirect(w, r)
		return
	}
	at, known := p.routes[path]
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case !ok || !known:
		fail(w, newProblem(http.StatusNotFound, "not-found", "there is nothing at this path; the page is mounted at "+p.config.Prefix+"/ (Config.Prefix)"))
	case r.Method != at.method && (at.method != http.MethodGet || !reads):
		w.Header().Set("Allow", at.method)
		fail(w, newProblem(http.StatusMethodNotAllowed, "method-not-allowed", "the path takes "+at.method))
	case !at.anybody && p.isForeign(r):
		fail(w, newProblem(http.StatusForbidden, "foreign-origin", "a page of another origin may not ask this"))
	default:
		at.serve(w, r)
	}
}

// authorized turns an authorisation callback's error into the answer.
func (p *page) authorized(r *http.Request, err error) error {
	if err == nil {
		return nil
	}
	p.config.Log.DebugContext(r.Context(), "pathlock admin: refused", slog.String("method", r.Method), slog.Any("error", err))
	if errors.Is(err, ErrUnauthorized) {
		return newProblem(http.StatusUnauthorized, "unauthenticated", "sign in first")
	}
	return newProblem(http.StatusForbidden, "forbidden", "you may not do this")
}

// mayRelease returns who asks if the request may release, and the answer if it may not.
func (p *page) mayRelease(r *http.Request) (who string, err error) {
	if p.config.AuthorizeRelease == nil {
		return "", newProblem(http.StatusForbidden, "read-only", "the page is read-only: it was mounted without AuthorizeRelease")
	}
	who, err = p.config.AuthorizeRelease(r)
	return who, p.authorized(r, err)
}

// isForeign reports whether a page of another origin makes the browser ask. Programs are not
// foreign. The browser would hide the answer of a GET from the foreign page, but the server would
// do the work.
func (p *page) isForeign(r *http.Request) bool {
	asPost := *r
	asPost.Method = http.MethodPost
	return p.origins.Check(&asPost) != nil
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

// servePage answers with the page itself, in the language that the query asks for, or else in the
// one that the browser prefers.
func (p *page) servePage(w http.ResponseWriter, r *http.Request) {
	languages := []language.Tag{language.English, language.SimplifiedChinese}
	_, i := language.MatchStrings(language.NewMatcher(languages), r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
	_, refused := p.mayRelease(r)
	var page bytes.Buffer
	err := p.html.Execute(&page, struct {
		Lang, Instance      string
		MayRelease, History bool
		PollMS              int64
	}{[]string{"en", "zh-CN"}[i], p.config.Instance, refused == nil, p.config.History != nil, p.config.Poll.Milliseconds()})
	if err != nil {
		fail(w, newProblem(http.StatusInternalServerError, "internal", "the page could not be rendered"))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes())
}

// policy allows the page what it has itself, and nothing inline. Scripts cannot make markup out of
// text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// protect sets the headers that every answer has.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

//go:embed assets
var embedded embed.FS

// types are the content types of assets. Files of other types are not served.
var types = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
}

// addAssets adds routes for the embedded files, which can always be read.
func (p *page) addAssets() {
	entries, _ := embedded.ReadDir("assets")
	for _, e := range entries {
		kind := types[path.Ext(e.Name())]
		if kind == "" {
			continue
		}
		body, _ := embedded.ReadFile("assets/" + e.Name())
		etag := `"` + hashed(string(body)) + `"`
		// Browsers keep the file, and ask each time whether it has changed.
		p.routes["/assets/"+e.Name()] = &operation{method: http.MethodGet, anybody: true, serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "private, no-cache")
			w.Header().Set("Content-Type", kind)
			w.Header().Set("ETag", etag)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		}}
	}
}
