package middleware

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/moogar0880/problems"
)

// ProblemType is what the types of pathlock's problems begin with; a slug such as
// "locked" follows. They identify, and lead nowhere.
const ProblemType = "urn:pathlock:problem:"

// StatusClientGone is the status that is logged for a request whose client went away while it
// waited; nobody receives it. The number is the one that nginx made usual.
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
	// Detached is set for a hold that outlives the request that took it: it lasts until Until, or
	// until a holder of its token releases it.
	Detached bool `json:"detached,omitempty"`
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

// Error implements error.
func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Type, p.Detail) }

// Later returns a problem as [NewProblem] does that may be gone when the request is sent again
// after [DefaultRetryAfter].
func Later(status int, slug, detail string) *Problem {
	p := NewProblem(status, slug, detail)
	p.RetryAfter = DefaultRetryAfter
	return p
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
