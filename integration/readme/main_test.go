package readme

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/integration/internal/program"
)

// tests are those of the package, and what is removed behind them.
type tests struct{ *testing.M }

// Run implements testscript's interface.
func (m tests) Run() int {
	defer program.Remove()
	return m.M.Run()
}

// The shells of the tests find the command pathlock.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"pathlock": func() { os.Exit(command.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) },
	})
}
