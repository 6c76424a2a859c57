package gormplugin_test

import (
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if err := testserver.SkipExamples("^Example", testserver.MySQLVariable, testserver.MariaDBVariable); err != nil {
		panic(err)
	}
	if err := gormplugintest.Checks(); err != nil {
		panic(err)
	}
	gin.SetMode(gin.ReleaseMode)
	// GORM's cache of prepared statements has a goroutine that it never ends.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
}
