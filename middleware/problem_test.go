package middleware_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// stated states a failure itself, in words that have those of others.
type stated struct{ err error }

func (e *stated) Error() string             { return "name taken: a sibling: " + e.err.Error() }
func (e *stated) Failure() pathlock.Failure { return pathlock.FailureNameTaken }
func (e *stated) Unwrap() error             { return e.err }

// However an error is wrapped, what a driver said stays behind the interface.
func TestProblem_detailIsNoDriversOwn(t *testing.T) {
	taken := fmt.Errorf("%w: a sibling: %w", pathlock.FailureNameTaken.New("name taken"), &os.PathError{Op: "insert", Path: "suites", Err: io.EOF})
	for name, err := range map[string]error{
		"alone":                     taken,
		"joined":                    errors.Join(&os.PathError{Op: "rollback", Path: "suites", Err: io.EOF}, taken),
		"by another library":        &url.Error{Op: "save", URL: "suites", Err: taken},
		"by two":                    &url.Error{Op: "save", URL: "suites", Err: &net.OpError{Op: "suites", Err: taken}},
		"joined by a library's":     errors.Join(&url.Error{Op: "save", URL: "suites", Err: taken}),
		"another's joined in fmt's": fmt.Errorf("%w", errors.Join(taken, &os.PathError{Op: "rollback", Path: "suites", Err: io.EOF})),
		"in parentheses":            fmt.Errorf("name taken: a sibling (%w)", &url.Error{Op: "save", URL: "suites", Err: taken}),
		"the driver's first":        fmt.Errorf("%w: %w", &os.PathError{Op: "insert", Path: "suites", Err: io.EOF}, fmt.Errorf("%w: a sibling", pathlock.FailureNameTaken.New("name taken"))),
		"by one that states it":     &stated{&url.Error{Op: "save", URL: "suites", Err: taken}},
		"a library's within fmt's":  fmt.Errorf("name taken: a sibling: %w", &url.Error{Op: "save", URL: "suites", Err: taken}),
	} {
		p := middleware.ProblemOf(err)
		if p == nil || p.Slug() != "name-taken" || p.Detail != "name taken: a sibling" {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// What the store does not know of a holder is left out.
func TestProblem_tellsWhatIsKnownOfTheHolder(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.failing(func(*gin.Context) error {
		return &pathlock.ConflictError{Tree: plan, Gate: true, Blocker: pathlock.Blocker{Note: "nightly", Gate: true, Mode: pathlock.ModeX}}
	})
	if w := f.send("DELETE", "/suites/3", ""); !strings.HasSuffix(w.Body.String(), `"path":"/","mode":"X","holder":{"what":"nightly"}}`) {
		t.Errorf("the problem is %s", w.Body)
	}
	f.nothingLeft()
}
