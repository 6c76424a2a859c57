package httpapi_test

import (
	"errors"
	"net/http"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A change and its answer are one transaction: where the answer cannot be recorded, nothing is
// changed.
func TestKeys_nothingChangesWithoutItsAnswer(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "recorded")
	failed := errors.New("the answer is not recorded")
	ctx := plans.Recording(t.Context(), func(*gorm.DB, any) error { return failed })
	if _, err := api.Service.CreateSuite(ctx, ids["plan"], ids["root"], "new"); !errors.Is(err, failed) {
		t.Errorf("a change whose answer is not recorded: %v", err)
	}
	step{request: `POST /api/plans/{plan}/suites {"parent_id":{root},"name":"new"}`, status: http.StatusCreated}.run(t, api, ids)
}
