package httpapi_test

import (
	"fmt"
	"testing"

	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A route whose writes the plugin asserts looks up a node once, before it locks the node. Every
// other route looks again under the locks, and so does every route if nothing is asserted.
func TestNodesAreLookedAtOnceWhereWritesAreAsserted(t *testing.T) {
	for _, asserts := range []bool{true, false} {
		api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: asserts})
		ids := fixture(t, api, "looks")
		sent := &statements{Interface: logger.Discard}
		api.DB.Read.Logger = sent
		for _, tt := range []struct {
			request  string
			status   int
			reads    int // of one look, at all suites at once; that of a case reads its suite too
			asserted bool
		}{
			{`POST /api/plans/{plan}/suites {"parent_id":{d},"name":"n"}`, 201, 1, true},
			{`PATCH /api/suites/{d} {"name":"e"}`, 200, 1, true},
			{`POST /api/suites/{d}/cases {"name":"n"}`, 201, 1, true},
			{`POST /api/cases/{k}/move {"suite_id":{d}}`, 200, 3, true},
			{`PATCH /api/cases/{k} {"body":"b"}`, 200, 2, false},
			{`POST /api/cases/{k}/copy {"suite_id":{b},"name":"copy"}`, 201, 3, false},
			{`POST /api/suites/{b}/copy {"parent_id":{root},"name":"copy"}`, 201, 1, false},
			{`DELETE /api/cases/{k}`, 204, 2, true},
			{`POST /api/suites/{d}/move {"parent_id":{a}}`, 200, 1, true},
			{`DELETE /api/suites/{a}`, 204, 1, true},
		} {
			t.Run(fmt.Sprintf("%s, asserted: %v", tt.request, asserts), func(t *testing.T) {
				sent.forget()
				step{request: tt.request, status: tt.status}.run(t, api, "", ids)
				want := 2 * tt.reads
				if asserts && tt.asserted {
					want = tt.reads
				}
				if got := sent.all(); len(got) != want {
					t.Errorf("%d reads, want %d: %q", len(got), want, got)
				}
			})
		}
	}
}
