package pathlock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Who mends a program's settings hears of all that are wrong, and not of one at a time.
func TestCheckNamesEveryOptionThatMakesNoSense(t *testing.T) {
	err := pathlock.New(memstore.New(), pathlock.WithLease(time.Millisecond), pathlock.WithWait(-time.Second)).Check()
	if !errors.Is(err, pathlock.ErrInvalidRequest) {
		t.Fatalf("Check: %v, want ErrInvalidRequest", err)
	}
	for _, says := range []string{"lease 1ms", "negative wait -1s"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("Check: %v; want it to say %q, too", err, says)
		}
	}
}

// A program can ask at start whether the options of its locker make sense, and hears then what the
// first request would have been refused with.
func TestCheckRefusesWhatEveryRequestWouldBeRefusedWith(t *testing.T) {
	tree, err := pathlock.NewTree("check", "1")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		option pathlock.Option
		says   string // "" is that it makes sense
	}{
		{"no wait at all", pathlock.WithWait(pathlock.NoWait), ""},
		{"the shortest lease", pathlock.WithLease(pathlock.MinLease), ""},
		{"too short a lease", pathlock.WithLease(pathlock.MinLease - 1), "at least 10ms is needed"},
		{"a negative lease", pathlock.WithLease(-time.Second), "at least 10ms is needed"},
		{"a negative wait", pathlock.WithWait(-time.Second), "negative wait -1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			locker := pathlock.New(memstore.New(), tt.option)
			err := locker.Check()
			lock, refusal := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
			if refusal == nil {
				if err := lock.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if tt.says == "" {
				if err != nil || refusal != nil {
					t.Errorf("Check: %v; Acquire: %v; want neither", err, refusal)
				}
				return
			}
			if !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Check: %v, want an ErrInvalidRequest that says %q", err, tt.says)
			}
			if refusal == nil || refusal.Error() != err.Error() {
				t.Errorf("Acquire: %v, want what Check says: %v", refusal, err)
			}
		})
	}
}
