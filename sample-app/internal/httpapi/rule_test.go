package httpapi_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/lockstore"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// The tree of the fixture is /a/b with a case k in it, and /d.
func TestRuleSaysHowMuchAChangeLocks(t *testing.T) {
	const gate = "gate"
	for _, tt := range []struct {
		request string
		status  int
		rules   map[httpapi.Rule]string
	}{
		{`POST /api/plans/{plan}/suites {"parent_id":{d},"name":"n"}`, 201, map[httpapi.Rule]string{
			"": "X /d/n", httpapi.NameSlots: "X /d/n", httpapi.ParentExclusive: "X /d", httpapi.WholePlan: gate,
		}},
		{`PATCH /api/suites/{b} {"name":"e"}`, 200, map[httpapi.Rule]string{
			"": "X /a/b, X /a/e", httpapi.NameSlots: "X /a/b, X /a/e", httpapi.ParentExclusive: "X /a, X /a/b", httpapi.WholePlan: gate,
		}},
		{`POST /api/suites/{b}/cases {"name":"n"}`, 201, map[httpapi.Rule]string{
			httpapi.NameSlots: "X /a/b/n", httpapi.ParentExclusive: "X /a/b", httpapi.WholePlan: gate,
		}},
	} {
		for rule, want := range tt.rules {
			t.Run(tt.request+", "+string(rule), func(t *testing.T) {
				asked := &askedOf{Store: memstore.New()}
				api := apitest.StartOn(t, instance.Config{DB: testdb.SQLite(t), Assert: true, Rule: rule}, &lockstore.Store{Store: asked})
				ids := fixture(t, api, "rule")
				asked.forget()
				step{request: tt.request, status: tt.status}.run(t, api, "", ids)
				if got := asked.exclusive(); got != want {
					t.Errorf("it locks %q, want %q", got, want)
				}
			})
		}
	}
}

func TestRuleHasToBeOne(t *testing.T) {
	store, err := lockstore.Open(t.Context(), "memory://", "")
	if err != nil {
		t.Fatal(err)
	}
	if i, err := instance.OpenWith(t.Context(), instance.Config{DB: testdb.SQLite(t), Rule: "none"}, store); err == nil || !strings.Contains(err.Error(), "name-slots") {
		t.Errorf("an instance with an unknown rule: %v, %v, want an error that says what there is", i, err)
	}
}

// askedOf is a store that records the exclusive claims.
type askedOf struct {
	pathlock.Store
	mu   sync.Mutex
	held []string
}

func (s *askedOf) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Gate {
		s.held = append(s.held, "gate")
	}
	for _, c := range a.Claims {
		if c.Mode == pathlock.ModeX {
			s.held = append(s.held, c.String())
		}
	}
	return s.Store.Acquire(ctx, a)
}

func (s *askedOf) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = nil
}

func (s *askedOf) exclusive() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.held)
	return strings.Join(s.held, ", ")
}
