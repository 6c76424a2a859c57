// Package cli is the command line of pathlock.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes, as of fsck(8).
const (
	exitClean   = 0
	exitMended  = 1
	exitLeft    = 4
	exitFailure = 8
	exitUsage   = 16
	// exitInterrupted is how a shell reports SIGINT.
	exitInterrupted = 130
)

// commands is the command line in the form that kong reads: each field is a subcommand or a flag.
type commands struct {
	Fsck fsckCommand `cmd:"" help:"Check the trees of a table, and repair them."`

	Version kong.VersionFlag `help:"Show the version."`
}

// streams are the outputs of a command.
type streams struct{ out, errs io.Writer }

// Main runs a command line and returns the exit code. SIGINT and SIGTERM end a repair between two
// transactions. A second signal ends the process at once.
func Main(ctx context.Context, args []string, out, errs io.Writer) int {
	var commands commands
	exit := -1
	parser, err := kong.New(&commands,
		kong.Name("pathlock"),
		kong.Description("Finds and repairs damage in SQL tables that hold trees with materialised paths."),
		kong.Writers(out, errs),
		kong.Vars{"version": version(), "stores": stores()},
		kong.Exit(func(code int) { exit = code }),
	)
	if err != nil {
		_, _ = fmt.Fprintln(errs, "pathlock:", err)
		return exitFailure
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit // kong has answered --help or --version
	}
	if err != nil {
		_, _ = fmt.Fprintf(errs, "pathlock: %s\nTry pathlock --help.\n", printable(discreet(err.Error(), args)))
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	var code int
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(streams{out, errs}, &code); err != nil {
		_, _ = fmt.Fprintln(errs, "pathlock:", printable(err.Error()))
	}
	return code
}
