package httpapi_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

// The cost of a change is its number of statements. These changes run one after the other. BEGIN
// and COMMIT do not count.
func TestStatementsOfAChange(t *testing.T) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			config := instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true, Namespace: "test-statements"}
			api, another := apitest.Start(t, config), apitest.Start(t, config)
			ids := fixture(t, api, "statements")
			sent := &statements{Interface: logger.Discard}
			api.DB.Read.Logger, api.DB.Write.Logger = sent, sent
			for _, tt := range []struct {
				request string
				status  int
				want    int // 0 for what is not counted
				is      string
				// elsewhere says that another instance makes the change.
				elsewhere bool
				// moved says that the instance itself has moved the suite. If it has two pools, the
				// one that reads does not know that.
				moved bool
			}{
				// Each process asks once for the rows above a row, and for the name of an index.
				{request: `PATCH /api/suites/{a} {"name":"x"}`, status: 200},
				{request: `PATCH /api/suites/{c} {"name":"y"}`, status: 200},
				{request: `PATCH /api/suites/{d} {"name":"z"}`, status: 200},

				{request: `POST /api/plans/{plan}/suites {"parent_id":{c},"name":"n"}`, status: 201, want: 3, is: "resolve, lock, INSERT"},
				{request: `PATCH /api/suites/{d} {"name":"e"}`, status: 200, want: 4, is: "resolve, lock, children, UPDATE"},
				{request: `PATCH /api/suites/{a} {"name":"u"}`, status: 200, want: 5, is: "resolve, lock, children, UPDATE, UPDATE below"},
				{request: `PATCH /api/suites/{a} {"name":"longer"}`, status: 200, want: 6, is: "the same, and the lengths below"},
				{request: `POST /api/suites/{d}/cases {"name":"n"}`, status: 201, want: 3, is: "resolve, lock, INSERT"},
				{request: `POST /api/suites/{d}/move {"parent_id":{c}}`, status: 200, want: 4, is: "resolve both, lock, children, UPDATE"},
				{request: `POST /api/suites/{d}/move {"parent_id":{b}}`, status: 200, want: 4, is: "the same", moved: true},
				{request: `POST /api/suites/{d}/cases {"name":"m"}`, status: 201, want: 3, is: "resolve, lock, INSERT"},

				{request: `POST /api/suites/{d}/move {"parent_id":{c}}`, status: 200, elsewhere: true},
				{request: `POST /api/suites/{d}/cases {"name":"o"}`, status: 201, want: 4, is: "resolve where it was and where it is, lock, INSERT"},
				{request: `POST /api/suites/{d}/move {"parent_id":{root}}`, status: 200, elsewhere: true},
				{request: `POST /api/suites/{d}/cases {"name":"p"}`, status: 201, want: 3, is: "resolve, where what is above is known, lock, INSERT"},
				{request: `POST /api/suites/{d}/move {"parent_id":{c}}`, status: 200, elsewhere: true},
				{request: `POST /api/suites/{d}/move {"parent_id":{b}}`, status: 200, want: 5, is: "resolve both where they were and where they are, lock, children, UPDATE"},
			} {
				sender := api
				if tt.elsewhere {
					sender = another
				}
				sent.forget()
				step{request: tt.request, status: tt.status}.run(t, sender, "", ids)
				// Without row locks, the first statement makes the transaction the writer.
				got := slices.DeleteFunc(sent.all(), func(s string) bool { return strings.HasSuffix(s, "WHERE 1 = 0") })
				if tt.moved && api.DB.Read != api.DB.Write {
					tt.want++
				}
				if tt.want > 0 && len(got) != tt.want {
					t.Errorf("%s: %d statements, want %d (%s):\n%s", tt.request, len(got), tt.want, tt.is, strings.Join(got, "\n"))
				}
			}
		})
	}
}

// statements is a log of the statements that a database received.
type statements struct {
	logger.Interface
	mu   sync.Mutex
	sent []string
}

func (s *statements) Trace(_ context.Context, _ time.Time, statement func() (string, int64), _ error) {
	text, _ := statement()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, text)
}

func (s *statements) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = nil
}

func (s *statements) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}
