// Package page is the app's page: what a browser shows at the app's address. It is a client of the
// HTTP interface, written in plain ES modules, and asks no other host for anything.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"time"
)

//go:embed assets
var files embed.FS

// policy lets the page load and ask nothing but its own server, and lets no text become code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Main is the name of the page itself, which names the other files.
const Main = "page.html"

// Serve serves the page or one of its files.
func Serve(w http.ResponseWriter, r *http.Request, name string) {
	content, err := files.ReadFile("assets/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	Send(w, r, name, content)
}

// Send serves content that browsers may keep, and ask each time whether it has changed. Its tag is
// weak: the answer may be compressed.
func Send(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum224(content)))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
