package admin

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var embedded embed.FS

// types are the content types of assets. Files of other types are not served.
var types = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
}

// addAssets adds routes for the embedded files, and returns the page's template.
func (p *Page) addAssets() (*template.Template, error) {
	entries, err := embedded.ReadDir("assets")
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	for _, e := range entries {
		kind := types[path.Ext(e.Name())]
		if kind == "" {
			continue
		}
		body, err := embedded.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("admin: %w", err)
		}
		etag := `"` + hashed(string(body)) + `"`
		// Browsers keep the file, and ask each time whether it has changed.
		p.routes["/assets/"+e.Name()] = route{method: http.MethodGet, serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "private, no-cache")
			w.Header().Set("Content-Type", kind)
			w.Header().Set("ETag", etag)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		}}
	}
	return template.ParseFS(embedded, "assets/page.html")
}
