package gormplugin_test

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// AutoMigrate ends with what Verify says of the session, too: tables that are right are of no use
// where the server cuts off what does not fit.
func TestMySQLAutoMigrateSaysWhatVerifySays(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		lax := opened(t, mysqlDatabase(t, server, map[string]string{"sql_mode": "'NO_ENGINE_SUBSTITUTION'"}), gormplugin.Model(&gormplugintest.Branch{}))
		err := gormplugin.AutoMigrate(lax)
		if says := gormplugin.Verify(lax); !errors.Is(err, gormplugin.ErrUnsafeSchema) || says == nil || err.Error() != says.Error() {
			t.Errorf("AutoMigrate: %v; Verify: %v", err, says)
		}
	})
}
