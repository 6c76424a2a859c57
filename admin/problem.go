package admin

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock"
)

// problemType begins the types of the page's problems, as it does in package middleware.
const problemType = "urn:pathlock:problem:"

// problem is the application/problem+json body of a failure (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Field names what is wrong in the request.
	Field string `json:"field,omitempty"`
	// DegradedSince is since when requests of this process go on without the lock store.
	DegradedSince *time.Time `json:"degraded_since,omitempty"`
	// retryAfter is a number of seconds for the header Retry-After, 0 for none.
	retryAfter int
}

// Error implements error.
func (p *problem) Error() string { return p.Detail }

func newProblem(status int, slug, detail string) *problem {
	return &problem{Type: problemType + slug, Title: http.StatusText(status), Status: status, Detail: detail}
}

// invalid is the problem of a request that makes no sense.
func invalid(field, detail string) *problem {
	p := newProblem(http.StatusBadRequest, "invalid-request", detail)
	p.Field = field
	return p
}

// problemOf returns the answer for an error. What a driver says is for the log.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
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
	p.retryAfter = 1
	return p
}

// failLook answers a request for locks that could not be read.
func (p *Page) failLook(w http.ResponseWriter, err error) {
	problem := problemOf(err)
	if l, ok := p.locks.(interface{ Degraded() time.Time }); ok && problem.Status == http.StatusServiceUnavailable {
		problem.DegradedSince = stamp(l.Degraded())
	}
	fail(w, problem)
}

// fail answers a request that failed.
func fail(w http.ResponseWriter, err error) {
	p := problemOf(err)
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(encode(p))
}
