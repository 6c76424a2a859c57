package admin

import (
	"errors"
	"log/slog"
	"net/http"
)

// authorized turns an authorisation callback's error into the answer.
func (p *Page) authorized(r *http.Request, err error) error {
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
func (p *Page) mayRelease(r *http.Request) (who string, err error) {
	if p.config.AuthorizeRelease == nil {
		return "", newProblem(http.StatusForbidden, "read-only", "the page is read-only: it was mounted without AuthorizeRelease")
	}
	who, err = p.config.AuthorizeRelease(r)
	return who, p.authorized(r, err)
}

// isForeign reports whether a page of another origin has the browser ask. Programs are none. The
// browser would keep the answer of a GET from the foreign page, but the work would be done.
func (p *Page) isForeign(r *http.Request) bool {
	asPost := *r
	asPost.Method = http.MethodPost
	return p.origins.Check(&asPost) != nil
}
