package middleware

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/problem"
)

// ProblemType begins the types of pathlock's problems: "urn:pathlock:problem:". A slug such as
// "locked" follows. The types are identifiers, and no addresses.
const ProblemType = problem.Type

// StatusClientGone is logged as the status of a request whose client went away while it waited.
// Nobody receives it. The number is nginx's.
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
	// Path and Mode are the refused claim, where others hold the node.
	Path string `json:"path,omitempty"`
	Mode string `json:"mode,omitempty"`
	// Holder is who is in the way.
	Holder *Holder `json:"holder,omitempty"`
	// RetryAfter asks for a Retry-After header of at least this time.
	RetryAfter time.Duration `json:"-"`
}

// Holder is who holds what a request asked for, or waits for it before the request.
type Holder struct {
	// What is the note of the holder's lock.
	What string `json:"what"`
	// Waiting says that the holder does not hold yet, but came first.
	Waiting bool `json:"waiting,omitempty"`
	// Detached says that the hold outlives the request that took it. It lasts until Until, or until
	// a bearer of its token releases it.
	Detached bool `json:"detached,omitempty"`
	// Since is when the hold or wait began. Until is when it ends unless it is renewed. Both are
	// left out where the lock store does not know them.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// NewProblem returns a problem with a status, the type that ends in slug, and a detail for people.
func NewProblem(status int, slug, detail string) *Problem {
	return &Problem{Type: ProblemType + slug, Title: http.StatusText(status), Status: status, Detail: detail}
}

// Slug returns what follows [ProblemType] in the problem's type: the slug of [NewProblem], which is
// a [pathlock.Failure] where [ProblemOf] knows one. A type of another kind is returned whole.
func (p *Problem) Slug() string { return strings.TrimPrefix(p.Type, ProblemType) }

// Error implements error.
func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Type, p.Detail) }

// Later is [NewProblem] for a problem that may be gone when the client sends the request again
// after a while.
func Later(status int, slug, detail string) *Problem {
	p := NewProblem(status, slug, detail)
	p.RetryAfter = defaultRetryAfter
	return p
}

// WriteProblem answers with p and aborts the request.
func WriteProblem(c *gin.Context, p *Problem) {
	c.Abort()
	problem.Write(c.Writer, p.Status, p, p.RetryAfter)
}
