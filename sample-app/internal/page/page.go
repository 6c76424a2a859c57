// Package page is the app's page: what a browser shows at the app's address. It is a client of the
// HTTP interface, written in plain ES modules, and asks no other host for anything.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"time"
)

//go:embed assets
var files embed.FS

// policy lets the page load and ask nothing but its own server, and lets no text become code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// types are the content types of the page's files.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// Page serves the page and its files.
type Page struct {
	html  file
	files map[string]file
}

// file is what a request for a file gets.
type file struct {
	name, kind, tag string
	content         []byte
}

// New reads the embedded files.
func New() (*Page, error) {
	p := &Page{files: map[string]file{}}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	for _, entry := range entries {
		content, err := files.ReadFile("assets/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		if kind := types[path.Ext(entry.Name())]; kind != "" {
			p.files[entry.Name()] = newFile(entry.Name(), kind, content)
		}
	}
	t, err := template.ParseFS(files, "assets/page.html")
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var html bytes.Buffer
	if err := t.Execute(&html, map[string]any{"Modules": p.modules()}); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	p.html = newFile("page.html", "text/html; charset=utf-8", html.Bytes())
	return p, nil
}

// modules are the scripts, which a browser may load before it finds their imports.
func (p *Page) modules() (names []string) {
	for name := range p.files {
		if path.Ext(name) == ".js" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func newFile(name, kind string, content []byte) file {
	sum := sha256.Sum256(content)
	return file{name, kind, `"` + hex.EncodeToString(sum[:12]) + `"`, content}
}

// ServeHTTP serves the page.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.html.serve(w, r) }

// ServeFile serves one of the page's files.
func (p *Page) ServeFile(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := p.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	f.serve(w, r)
}

// serve has browsers ask each time whether the file is another one: it is, after an update.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", f.tag)
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(f.content))
}
