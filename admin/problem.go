package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/web"
)

// refusal is the problem of a request that failed.
type refusal struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Field names what is wrong in the request.
	Field string `json:"field,omitempty"`
	// DegradedSince is when requests of this process began to go on without the lock store.
	DegradedSince *time.Time `json:"degraded_since,omitempty"`
	// retryAfter is for the header Retry-After, 0 for none.
	retryAfter time.Duration
}

// Error implements error.
func (p *refusal) Error() string { return p.Detail }

func newProblem(status int, slug, detail string) *refusal {
	return &refusal{Type: web.ProblemType + slug, Title: http.StatusText(status), Status: status, Detail: detail}
}

// invalid is the problem of a request that makes no sense.
func invalid(field, detail string) *refusal {
	p := newProblem(http.StatusBadRequest, "invalid-request", detail)
	p.Field = field
	return p
}

// problemOf returns the answer for an error. What a driver says is for the log.
func problemOf(err error) *refusal {
	if p, ok := errors.AsType[*refusal](err); ok {
		return p
	}
	if errors.Is(err, errNoAnswer) {
		return newProblem(http.StatusServiceUnavailable, "release-unknown", "the lock store has not answered: the release may have taken place, so look again")
	}
	detail := "the lock store could not be read"
	if errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		detail = "the lock store does not answer"
	}
	p := newProblem(http.StatusServiceUnavailable, "lock-store-unavailable", detail)
	p.retryAfter = time.Second
	return p
}

// fail answers a request that failed.
func fail(w http.ResponseWriter, err error) {
	p := problemOf(err)
	web.WriteProblem(w, p.Status, p, p.retryAfter)
}
