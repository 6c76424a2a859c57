package middleware

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/lockspec"
)

// ProblemType begins the types of pathlock's problems: "urn:pathlock:problem:". A slug such as
// "locked" follows. The types are identifiers, not addresses.
const ProblemType = web.ProblemType

// StatusClientGone is the status of a request whose client went away while the request waited. It
// appears in the log, and in an answer that only the program's own middleware sees. The number is
// nginx's.
const StatusClientGone = 499

// Problem is the application/problem+json body of a failure (RFC 9457). It is an error too, so that
// a handler can return one, and [Locks.Fail] answers with it.
type Problem struct {
	// Type names the kind of failure, and Title says what its status means. Detail is for people,
	// and Instance names the occurrence.
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Instance string `json:"instance,omitempty"`
	// Field names what is wrong in the request.
	Field string `json:"field,omitempty"`
	// Path and Mode are the refused claim, if others hold the node.
	Path string `json:"path,omitempty"`
	Mode string `json:"mode,omitempty"`
	// Holder is who is in the way.
	Holder *Holder `json:"holder,omitempty"`
	// RetryAfter asks for a Retry-After header of at least this time.
	RetryAfter time.Duration `json:"-"`
}

// Holder is who holds what a request asked for, or is ahead of the request in the queue.
type Holder struct {
	// What is the note of the holder's lock.
	What string `json:"what"`
	// Waiting says that the holder does not hold yet, but came first.
	Waiting bool `json:"waiting,omitempty"`
	// Detached says that the hold outlives the request that took it. It lasts until Until, or until
	// a bearer of its token releases it.
	Detached bool `json:"detached,omitempty"`
	// Since is when the hold or wait began. Until is when it ends unless it is renewed. Both are
	// left out if the lock store does not know them.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// NewProblem returns a problem with a status, the type that ends in slug, and a detail for people.
func NewProblem(status int, slug, detail string) *Problem {
	title := http.StatusText(status)
	if status == StatusClientGone {
		title = "Client Closed Request"
	}
	return &Problem{Type: ProblemType + slug, Title: title, Status: status, Detail: detail}
}

// Slug returns what follows [ProblemType] in the problem's type: the slug of [NewProblem], which is
// a [pathlock.Failure] if [ProblemOf] knows one. A type that begins otherwise is returned whole.
func (p *Problem) Slug() string { return strings.TrimPrefix(p.Type, ProblemType) }

// Error implements error.
func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Type, p.Detail) }

// NewRetryableProblem is [NewProblem] for a temporary problem: it asks the client to retry
// (Retry-After).
func NewRetryableProblem(status int, slug, detail string) *Problem {
	p := NewProblem(status, slug, detail)
	p.RetryAfter = defaultRetryAfter
	return p
}

// WriteProblem answers with p and aborts the request.
func WriteProblem(c *gin.Context, p *Problem) {
	c.Abort()
	web.WriteProblem(c.Writer, p.Status, p, p.RetryAfter)
}

// ProblemOf returns the answer to an error of pathlock's packages, the plugin's and the stores'
// included, or to any other that states a failure: see [pathlock.FailureOf]. It returns nil for the
// rest. An error that wraps a [*Problem] is that problem. See [Locks.ProblemOf].
func ProblemOf(err error) *Problem {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*pathlock.ConflictError](err); ok {
		return locked(e, e.Tree, e.Path, e.Mode, e.Gate, e.Blocker)
	}
	if e, ok := errors.AsType[*pathlock.DeadlockError](err); ok {
		return locked(e, e.Tree, e.Path, e.Mode, e.Gate, e.Blocker)
	}
	if invalid, ok := errors.AsType[*lockspec.InvalidError](err); ok {
		p := NewProblem(http.StatusBadRequest, "invalid-request", withoutForeign(invalid.Reason, invalid.Err))
		if p.Field = invalid.Field; p.Field != "" {
			p.Detail = p.Field + ": " + p.Detail
		}
		return p
	}
	switch {
	case errors.Is(err, errClientGone):
		return clientGone()
	case pathlock.FailureOf(err) == pathlock.FailureLockLost:
		return holdEnded()
	case errors.Is(err, pathlock.ErrHeldTooLong): // a mutex that was held for too long is lost, too
		return timeout()
	case errors.Is(err, pathlock.ErrLost):
		return lost()
	default:
		return problemOfFailure(pathlock.FailureOf(err), ClientDetail(err))
	}
}

// ProblemOf is the function [ProblemOf], which also knows the errors that the resolvers explain.
// Those of gormplugin explain [gorm.ErrRecordNotFound], and the drivers' errors of a database that
// is down or in which a write collided with other transactions.
//
// [gorm.ErrRecordNotFound]: https://pkg.go.dev/gorm.io/gorm#pkg-variables
func (m *Locks) ProblemOf(err error) *Problem {
	if p := ProblemOf(err); p != nil {
		return p
	}
	for _, explainer := range m.explainers {
		// The database's own words are only for the log.
		if p := problemOfFailure(explainer.FailureOf(err), ""); p != nil {
			return p
		}
	}
	return nil
}

// refusal finds in a message why a request makes no sense: an ErrInvalid… of package pathlock.
var refusal = regexp.MustCompile("invalid (request|path|tree|lock token|id)")

// problemOfFailure returns the problem of a failure, nil if there is none. said describes it, and
// may be "".
func problemOfFailure(failure pathlock.Failure, said string) *Problem {
	switch slug := string(failure); failure {
	case pathlock.FailureLockLost:
		return holdEnded()
	case pathlock.FailureInvalid:
		// Which store has refused, and in which tree, is of no use to clients.
		if at := refusal.FindStringIndex(said); at != nil {
			said = said[at[0]:]
		}
		return NewProblem(http.StatusBadRequest, slug, cmp.Or(said, "a value of the request cannot be stored"))
	case pathlock.FailureNotFound:
		// Which code looked for it, and where, is of no use to clients.
		_, what, _ := strings.Cut(said, packageNames.Replace(pathlock.ErrNotFound.Error()))
		return NewProblem(http.StatusNotFound, slug, "not found"+what)
	case pathlock.FailureNameTaken, pathlock.FailureWouldCycle, pathlock.FailurePathChanged, pathlock.FailureStale:
		return NewProblem(http.StatusConflict, slug, said)
	case pathlock.FailureReference:
		return NewProblem(http.StatusConflict, slug, "other rows refer to this row, or this row refers to a row that does not exist")
	case pathlock.FailureDuplicate:
		return NewProblem(http.StatusConflict, slug, "another row already has a value that must be unique")
	case pathlock.FailureLocked:
		return NewRetryableProblem(http.StatusLocked, slug, "the write collided with other transactions repeatedly")
	case pathlock.FailureLockStore:
		return NewRetryableProblem(http.StatusServiceUnavailable, slug, "the lock store does not answer")
	case pathlock.FailureDatabase:
		return NewRetryableProblem(http.StatusServiceUnavailable, slug, "the database cannot serve the request")
	case pathlock.FailureOutcomeUnknown:
		return NewProblem(http.StatusServiceUnavailable, slug, "the change may or may not have been made: check before you send it again")
	default:
		return nil
	}
}

// lost is the problem of a request whose lock was lost while it was served.
func lost() *Problem {
	return NewRetryableProblem(http.StatusServiceUnavailable, string(pathlock.FailureLockStore), "the lock was lost while the request was running")
}

// holdEnded is the problem of a request whose hold has ended.
func holdEnded() *Problem {
	return NewProblem(http.StatusConflict, string(pathlock.FailureLockLost), "the hold that the lock token names has ended")
}

// locked is the problem of a request that others kept from its locks.
func locked(err error, tree pathlock.Tree, path pathlock.Path, mode pathlock.Mode, gate bool, blocker pathlock.Blocker) *Problem {
	detail := strings.NewReplacer(" in "+tree.String()+": ", " in the tree: ", "gate of "+tree.String()+": ", "gate of the tree: ").Replace(ClientDetail(err))
	p := NewRetryableProblem(http.StatusLocked, string(pathlock.FailureLocked), detail)
	p.Path, p.Mode = path.String(), mode.String()
	if gate {
		p.Path, p.Mode = pathlock.Root().String(), pathlock.ModeX.String()
	}
	if !blocker.IsZero() {
		p.Holder = &Holder{What: blocker.Note, Waiting: blocker.Waiting, Detached: blocker.Owner.Detached(), Since: blocker.Since.UTC(), Until: blocker.Until.UTC()}
	}
	return p
}

// clientGone is the problem of a request whose client has gone away.
func clientGone() *Problem {
	return NewProblem(StatusClientGone, "client-gone", "the client went away before the answer")
}

// timeout is the problem of a request that ran out of its time.
func timeout() *Problem {
	return NewRetryableProblem(http.StatusServiceUnavailable, "timeout", "the request took too long")
}
