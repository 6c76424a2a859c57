package admin

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"golang.org/x/text/language"
)

//go:embed assets openapi.json
var embedded embed.FS

// types are the content types of assets. Files of other types are not served.
var types = map[string]string{
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".json": "application/json",
}

// assets are the embedded files.
type assets struct {
	page  *template.Template
	files map[string]asset
	// openAPI describes the API.
	openAPI asset
}

// asset is one file, with its entity tag.
type asset struct {
	body []byte
	kind string
	etag string
}

func newAsset(name string, body []byte) asset {
	sum := sha256.Sum256(body)
	return asset{body, types[path.Ext(name)], `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// loadAssets reads the embedded files.
func loadAssets() (*assets, error) {
	page, err := template.ParseFS(embedded, "assets/page.html")
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	a := &assets{page: page, files: make(map[string]asset)}
	entries, err := fs.ReadDir(embedded, "assets")
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	for _, e := range entries {
		if types[path.Ext(e.Name())] == "" {
			continue
		}
		body, err := embedded.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("admin: %w", err)
		}
		a.files[e.Name()] = newAsset(e.Name(), body)
	}
	body, err := embedded.ReadFile("openapi.json")
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	a.openAPI = newAsset("openapi.json", body)
	return a, nil
}

// send answers with the file. Browsers keep it, and ask each time whether it has changed.
func (a asset) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", a.etag)
	if matches(r, a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.kind)
	_, _ = w.Write(a.body)
}

// matches reports whether the client has what an entity tag names.
func matches(r *http.Request, etag string) bool {
	for _, known := range r.Header.Values("If-None-Match") {
		for one := range strings.SplitSeq(known, ",") {
			if strings.TrimPrefix(strings.TrimSpace(one), "W/") == strings.TrimPrefix(etag, "W/") {
				return true
			}
		}
	}
	return false
}

func (p *Page) serveAsset(w http.ResponseWriter, r *http.Request) {
	p.assets.files[path.Base(r.URL.Path)].send(w, r)
}

func (p *Page) serveOpenAPI(w http.ResponseWriter, r *http.Request) { p.assets.openAPI.send(w, r) }

// languages are those of the page, the default first.
var languages = []string{"en", "zh-CN"}

// lang returns the language to answer in: the one that the query asks for, or else the one that the
// browser prefers.
func lang(r *http.Request) string {
	matcher := language.NewMatcher([]language.Tag{language.English, language.SimplifiedChinese})
	_, i := language.MatchStrings(matcher, r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
	return languages[i]
}

// servePage answers with the page itself.
func (p *Page) servePage(w http.ResponseWriter, r *http.Request) {
	_, refused := p.mayRelease(r)
	var page bytes.Buffer
	err := p.assets.page.Execute(&page, struct {
		Lang, Instance      string
		MayRelease, History bool
		PollMS              int64
	}{lang(r), p.config.Instance, refused == nil, p.config.History != nil, p.config.Poll.Milliseconds()})
	if err != nil {
		fail(w, r, newProblem(http.StatusInternalServerError, "internal", "the page could not be made"))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes())
}

// about is the answer about the viewer.
type about struct {
	Instance   string `json:"instance"`
	MayRelease bool   `json:"may_release"`
	ReadOnly   bool   `json:"read_only,omitempty"`
	Who        string `json:"who,omitempty"`
	History    bool   `json:"history"`
	PollMS     int64  `json:"poll_ms"`
	Now        stamp  `json:"now"`
}

func (p *Page) serveAbout(w http.ResponseWriter, r *http.Request) {
	who, refused := p.mayRelease(r)
	a := about{
		Instance: p.config.Instance, MayRelease: refused == nil, ReadOnly: p.config.AuthorizeRelease == nil,
		History: p.config.History != nil, PollMS: p.config.Poll.Milliseconds(), Now: stamp(p.config.Now()),
	}
	if refused == nil {
		a.Who = printable(who)
	}
	answer(w, encode(a))
}
