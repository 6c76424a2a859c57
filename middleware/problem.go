package middleware

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/moogar0880/problems"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// ProblemType is what the types of pathlock's problems begin with; a slug such as
// "locked" follows. They identify, and lead nowhere.
const ProblemType = "urn:pathlock:problem:"

// StatusClientGone is the status that is logged for a request whose client
// went away while it waited; nobody receives it. The number is the one that nginx made usual.
const StatusClientGone = 499

// Problem is the body of a failure, application/problem+json as RFC 9457 has it. It is an
// error too, so that a handler's code can return one and [Locks.Fail] answer with it.
type Problem struct {
	problems.Problem
	// Field names what is wrong in the request.
	Field string `json:"field,omitempty"`
	// Path and Mode are the node that was wanted, where others hold it.
	Path string `json:"path,omitempty"`
	Mode string `json:"mode,omitempty"`
	// Holder is who stood in the way.
	Holder *Holder `json:"holder,omitempty"`
	// RetryAfter asks for a Retry-After header of at least this time.
	RetryAfter time.Duration `json:"-"`
}

// Holder says who holds what a request wanted, or waits for it before the request.
type Holder struct {
	// What the holder does: the note of its lock.
	What string `json:"what"`
	// Waiting is set for one who does not hold but came first.
	Waiting bool `json:"waiting,omitempty"`
	// Since is when it began, Until when it ends unless it is renewed; left out where the
	// lock store does not know.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// NewProblem returns a problem with the status, the type that ends in slug,
// and a detail for people.
func NewProblem(status int, slug, detail string) *Problem {
	p := problems.NewDetailedProblem(status, detail).WithType(ProblemType + slug)
	return &Problem{Problem: *p}
}

// packageNames takes out of an error's message what says nothing to whoever sent the request.
var packageNames = strings.NewReplacer("pathlock: ", "", "lockspec: ", "", "middleware: ", "", "gormplugin: ", "")

// Detail returns the message of an error of pathlock's packages for people
// who know the interface and not the code: without the names of Go packages.
func Detail(err error) string { return packageNames.Replace(err.Error()) }

// Error implements error.
func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Type, p.Detail) }

// ProblemOf returns what to answer for an error of pathlock's packages, and
// nil for one that is not theirs. An error that wraps a [*Problem] is that problem.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*pathlock.ConflictError](err); ok {
		return locked(e, e.Path, e.Mode, e.Gate, e.Blocker)
	}
	if e, ok := errors.AsType[*pathlock.DeadlockError](err); ok {
		return locked(e, e.Path, e.Mode, e.Gate, e.Blocker)
	}
	if invalid, ok := errors.AsType[*lockspec.InvalidError](err); ok {
		p := NewProblem(http.StatusBadRequest, "invalid-request", packageNames.Replace(invalid.Reason))
		if p.Field = invalid.Field; p.Field != "" {
			p.Detail = p.Field + ": " + p.Detail
		}
		return p
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		return NewProblem(http.StatusRequestEntityTooLarge, "too-large", Detail(err))
	case errors.Is(err, pathlock.ErrInvalidID), errors.Is(err, pathlock.ErrInvalidPath), errors.Is(err, pathlock.ErrInvalidTree):
		return NewProblem(http.StatusBadRequest, "invalid-request", Detail(err))
	case errors.Is(err, pathlock.ErrNotFound):
		// Who looked for it in vain, and in what, is of no interest outside.
		_, what, _ := strings.Cut(err.Error(), pathlock.ErrNotFound.Error())
		return NewProblem(http.StatusNotFound, "not-found", "not found"+what)
	case errors.Is(err, lockspec.ErrWouldCycle):
		return NewProblem(http.StatusConflict, "would-cycle", Detail(err))
	case errors.Is(err, pathlock.ErrPathChanged):
		return NewProblem(http.StatusConflict, "path-changed", Detail(err))
	case errors.Is(err, ErrHeldTooLong):
		return Later(http.StatusServiceUnavailable, "timeout", "the request took too long and was given up")
	case errors.Is(err, pathlock.ErrUnavailable):
		return Later(http.StatusServiceUnavailable, "lock-store-unavailable", "the lock store does not answer; nothing was written")
	case errors.Is(err, pathlock.ErrLost):
		return Later(http.StatusServiceUnavailable, "lock-store-unavailable", "the lock was lost while the request was served")
	default:
		return nil
	}
}

// Later returns a problem as [NewProblem] does that may be gone when the request is sent again
// after [DefaultRetryAfter].
func Later(status int, slug, detail string) *Problem {
	p := NewProblem(status, slug, detail)
	p.RetryAfter = DefaultRetryAfter
	return p
}

// locked is the problem of a request that others kept waiting for too long.
func locked(err error, path pathlock.Path, mode pathlock.Mode, gate bool, blocker pathlock.Blocker) *Problem {
	p := Later(http.StatusLocked, "locked", Detail(err))
	p.Path, p.Mode = path.String(), mode.String()
	if gate {
		p.Path, p.Mode = pathlock.Root().String(), pathlock.ModeX.String()
	}
	if !blocker.IsZero() {
		p.Holder = &Holder{What: blocker.Note, Waiting: blocker.Waiting, Since: blocker.Since.UTC(), Until: blocker.Until.UTC()}
	}
	return p
}

// Fail answers a request that failed with err, as [ProblemOf] says, and 500
// without any detail for what it does not know. It aborts the request, and writes nothing
// if the client has gone or the response has been begun.
func (m *Locks) Fail(c *gin.Context, err error) {
	_ = c.Error(err)
	if c.Writer.Written() {
		c.Abort()
		return
	}
	p := ProblemOf(err)
	switch {
	case p != nil:
	case isGone(c.Request.Context(), err):
		c.AbortWithStatus(StatusClientGone)
		return
	case errors.Is(err, context.DeadlineExceeded):
		p = Later(http.StatusServiceUnavailable, "timeout", "the request took too long")
	default:
		p = NewProblem(http.StatusInternalServerError, "internal", "an internal error; the log has more")
	}
	if p.RetryAfter > 0 {
		p.RetryAfter = max(p.RetryAfter, m.config.RetryAfter)
	}
	if m.config.Redact != nil {
		redacted := *p
		m.config.Redact(c, &redacted)
		p = &redacted
	}
	WriteProblem(c, p)
}

// WriteProblem answers with p and aborts the request.
func WriteProblem(c *gin.Context, p *Problem) {
	c.Abort()
	if p.RetryAfter > 0 {
		seconds := (p.RetryAfter + time.Second - 1) / time.Second
		c.Header("Retry-After", strconv.Itoa(int(seconds)))
	}
	body, err := json.Marshal(p)
	if err != nil {
		c.AbortWithStatus(p.Status)
		return
	}
	c.Data(p.Status, problems.ProblemMediaType, body)
}
