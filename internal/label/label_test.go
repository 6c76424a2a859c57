package label_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/label"
)

func TestOperationsHaveRoomForSoMany(t *testing.T) {
	o := label.NewOperations(2)
	for _, tt := range []struct{ operation, want string }{
		{"", label.NoOperation}, {"rename", "rename"}, {"move", "move"}, {"copy", label.OtherOperation}, {"rename", "rename"}, {"", label.NoOperation},
	} {
		if got := o.Of(tt.operation); got != tt.want {
			t.Errorf("%q is labelled %q, want %q", tt.operation, got, tt.want)
		}
	}
}

func TestOutcomesAreAClosedSet(t *testing.T) {
	for _, tt := range []struct {
		err           error
		refusal, step string
	}{
		{fmt.Errorf("x: %w", &pathlock.ConflictError{Err: context.DeadlineExceeded}), "conflict", "locked"},
		{&pathlock.DeadlockError{}, "deadlock", "locked"},
		{pathlock.ErrLost, "lost", "lost"},
		{fmt.Errorf("%w: the lease ended: %w", pathlock.ErrLost, pathlock.ErrUnavailable), "lost", "lost"},
		{pathlock.ErrClosed, "error", "lock-store-unavailable"},
		{pathlock.ErrUnavailable, "unavailable", "lock-store-unavailable"},
		{context.Canceled, "cancelled", "cancelled"},
		{pathlock.Failure("of-a-program").New("x"), "error", "error"},
	} {
		if got := label.Refusal(tt.err); got != tt.refusal {
			t.Errorf("%v: the refusal is %q, want %q", tt.err, got, tt.refusal)
		}
		if got := label.Step(tt.err); got != tt.step {
			t.Errorf("%v: the step is %q, want %q", tt.err, got, tt.step)
		}
	}
}

// A program may answer with types of its own.
func TestProblemsAreAClosedSet(t *testing.T) {
	for failure, want := range map[pathlock.Failure]string{
		pathlock.FailureDatabase: "database-unavailable", "timeout": "timeout", "internal": "internal", "plan-7-is-full": "other", "": "other",
	} {
		if got := label.Problem(failure); got != want {
			t.Errorf("%q is labelled %q, want %q", failure, got, want)
		}
	}
}

// Alerts leave elections out by these labels, however many operations there are.
func TestElectionsAlwaysHaveRoom(t *testing.T) {
	o := label.NewOperations(0)
	for _, operation := range []string{election.OperationCampaign, election.OperationObserve} {
		if got := o.Of(operation); got != operation {
			t.Errorf("%q is labelled %q", operation, got)
		}
	}
}
