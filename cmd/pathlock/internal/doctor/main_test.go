package doctor_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
)

func TestMain(m *testing.M) {
	logging.Disable()
	goleak.VerifyTestMain(m)
}

// locks examines a lock store.
func locks(t *testing.T, url string, opts doctor.Options) doctor.Report {
	t.Helper()
	r, err := doctor.Locks(t.Context(), url, "", opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
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
