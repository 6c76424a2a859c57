package label_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/label"
)

// Alerts leave elections out by their labels, however many operations there are.
func TestOperationsHaveRoomForSoMany(t *testing.T) {
	o := label.NewOperations(2)
	for _, tt := range []struct{ operation, want string }{
		{"", label.NoOperation}, {"rename", "rename"}, {"move", "move"}, {"copy", label.OtherOperation}, {"rename", "rename"},
		{"campaign", "campaign"}, {"observe", "observe"},
	} {
		if got := o.Of(tt.operation); got != tt.want {
			t.Errorf("%q is labelled %q, want %q", tt.operation, got, tt.want)
		}
	}
}

// A program may answer with types of its own.
func TestOutcome_isOfAClosedSet(t *testing.T) {
	for degraded, want := range map[bool]string{false: "granted", true: "degraded"} {
		if got := label.Grant(pathlock.Event{Degraded: degraded}); got != want {
			t.Errorf("the grant is %q, want %q", got, want)
		}
	}
	for _, tt := range []struct {
		err                    error
		refusal, step, problem string
	}{
		{fmt.Errorf("x: %w", &pathlock.ConflictError{Err: context.DeadlineExceeded}), "conflict", "locked", "locked"},
		{&pathlock.DeadlockError{}, "deadlock", "locked", "locked"},
		{pathlock.ErrLost, "lost", "lost", "lock-store-unavailable"},
		{pathlock.ErrClosed, "error", "lock-store-unavailable", "lock-store-unavailable"},
		{pathlock.ErrUnavailable, "unavailable", "lock-store-unavailable", "lock-store-unavailable"},
		{context.Canceled, "cancelled", "cancelled", "other"},
		{pathlock.Failure("of-a-program").New("x"), "error", "error", "other"},
		{pathlock.Failure("timeout").New("x"), "error", "error", "timeout"},
	} {
		if got := label.Refusal(tt.err); got != tt.refusal {
			t.Errorf("%v: the refusal is %q, want %q", tt.err, got, tt.refusal)
		}
		if got := label.Step(tt.err); got != tt.step {
			t.Errorf("%v: the step is %q, want %q", tt.err, got, tt.step)
		}
		if got := label.Problem(pathlock.FailureOf(tt.err)); got != tt.problem {
			t.Errorf("%v: the problem is %q, want %q", tt.err, got, tt.problem)
		}
	}
}
