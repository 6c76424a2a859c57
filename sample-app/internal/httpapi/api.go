package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// Config is what the interface works with. All other fields than Asserted, Rule and BodyTimeout are
// required.
type Config struct {
	Service *plans.Service
	// Suites writes the tree: the service, unless what happens without any protection is to be
	// shown.
	Suites SuiteWriter
	// SuiteResolver and CaseResolver find the nodes that ids mean.
	SuiteResolver, CaseResolver pathlock.Resolver
	Locker                      *pathlock.Locker
	DB                          *database.DB
	// Asserted says that the plugin asserts what is written to suites and cases.
	Asserted bool
	// Rule is how much of a plan the changes of its tree lock.
	Rule Rule
	// Namespace is that of the plans' trees among the locks, the plans' ids being
	// the trees'. Plan names are locked in the namespace that has "-names" after it.
	Namespace string
	// Metrics answers /metrics, and Observe sees every request.
	Metrics http.Handler
	Observe gin.HandlerFunc
	Log     *slog.Logger
	// BodyTimeout is how long a client may take to send a body: see [middleware.Config].
	BodyTimeout time.Duration
}

// api answers requests.
type api struct {
	Config
	locks *middleware.Locks
}

// SuiteWriter changes the tree of a plan.
type SuiteWriter interface {
	CreateSuite(ctx context.Context, planID, parentID int64, name string) (model.Suite, error)
	RenameSuite(ctx context.Context, id int64, name string) (model.Suite, error)
	MoveSuite(ctx context.Context, id, parentID int64) (model.Suite, error)
	CopySuite(ctx context.Context, id, parentID int64, name string) (model.Suite, error)
	DeleteSuite(ctx context.Context, id int64) error
}
