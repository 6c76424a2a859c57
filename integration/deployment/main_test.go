package deployment_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deployed reads a file of the folder deploy.
func deployed(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "deploy"}, name...)...))
	testerr.Must(t, err)
	return string(text)
}
