package doctor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

func TestMain(m *testing.M) {
	logging.Disable()
	goleak.VerifyTestMain(m)
}

// examine examines a subject.
func examine(t *testing.T, s doctor.Subject) doctor.Report {
	t.Helper()
	s.Kinds = doctor.Stores
	r, err := doctor.Examine(t.Context(), s)
	testerr.Must(t, err)
	return r
}

// locks examines a lock store.
func locks(t *testing.T, url string, patience ...time.Duration) doctor.Report {
	t.Helper()
	return examine(t, doctor.Subject{Locks: url, Patience: append(patience, 0)[0]})
}

// want requires a finding of a check at a level whose text contains something, and returns it.
func want(t *testing.T, r doctor.Report, level doctor.Level, check, contains string) doctor.Finding {
	t.Helper()
	var others []string
	for _, f := range r.Findings {
		if f.Check == check && f.Level == level && strings.Contains(f.About+" "+f.Is+" "+f.Means, contains) {
			if level != doctor.Fine && f.Means == "" {
				t.Errorf("%s does not say what it means", check)
			}
			return f
		}
		others = append(others, strings.Join([]string{f.Level.String(), f.About, f.Check, f.Is}, ": "))
	}
	t.Errorf("there is no finding of %q at level %v about %q; there are\n%s", check, level, contains, strings.Join(others, "\n"))
	return doctor.Finding{}
}
