// Package command is the command line of pathlock, for those who build it with a lock store of
// their own:
//
//	func main() {
//		ctx, own := context.Background(), anystore.WithScheme("consul", consulstore.Open)
//		os.Exit(command.Main(ctx, os.Args[1:], os.Stdout, os.Stderr, own))
//	}
package command

import (
	"context"
	"io"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/cli"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Main runs a command line and returns its exit code. The options add lock stores to those that it
// knows.
// While it runs, it gets the process's signals.
func Main(ctx context.Context, args []string, out, errs io.Writer, stores ...anystore.Option) int {
	return cli.Main(ctx, args, out, errs, stores...)
}
