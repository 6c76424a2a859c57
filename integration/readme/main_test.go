package readme

import (
	"os"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/program"
)

func TestMain(m *testing.M) {
	code := m.Run()
	program.Remove()
	os.Exit(code)
}
