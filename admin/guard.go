package admin

import (
	"net/http"

	"github.com/pathlock-go/pathlock/internal/ownhost"
)

// guard refuses what a foreign page has a browser ask.
type guard struct {
	hosts   ownhost.Names
	origins *http.CrossOriginProtection
}

func newGuard(c Config) *guard {
	g := &guard{hosts: ownhost.New(c.Hosts...), origins: http.NewCrossOriginProtection()}
	for _, origin := range c.Origins {
		// Config.check has seen to the form.
		_ = g.origins.AddTrustedOrigin(origin)
	}
	return g
}

// checkHost refuses names that the page is not known by: see [Config.Hosts].
func (g *guard) checkHost(r *http.Request) error {
	if g.hosts.Are(r) {
		return nil
	}
	return newProblem(http.StatusMisdirectedRequest, "misdirected",
		"the page does not answer under this name; if it should, as behind a proxy on the same host, list the name in Config.Hosts")
}

// checkOrigin refuses what a page of another origin asks. Programs send neither header, and pass.
func (g *guard) checkOrigin(r *http.Request) error {
	refused := newProblem(http.StatusForbidden, "foreign-origin", "a page of another origin may not ask this")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		// The browser keeps the answer from a foreign page, but the work would be done.
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
			return refused
		}
	default:
		if g.origins.Check(r) != nil {
			return refused
		}
	}
	return nil
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
