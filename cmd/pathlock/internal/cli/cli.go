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

// Exit codes, as fsck(8) has them.
const (
	exitClean   = 0
	exitMended  = 1
	exitLeft    = 4
	exitFailure = 8
	exitUsage   = 16
	// exitInterrupted is how a shell reports SIGINT.
	exitInterrupted = 130
)

// commands is the command line as kong reads it. A further subcommand is a further field.
type commands struct {
	Fsck fsckCommand `cmd:"" help:"Check the trees of a table, and repair them."`

	Version kong.VersionFlag `help:"Say which version this is."`
}

// streams are where a command writes.
type streams struct{ out, errs io.Writer }

// Main runs a command line and returns the exit code. SIGINT and SIGTERM end a repair between two
// transactions; a second one ends the process at once.
func Main(ctx context.Context, args []string, out, errs io.Writer) int {
	var commands commands
	exit := -1
	parser, err := kong.New(&commands,
		kong.Name("pathlock"),
		kong.Description("Looks after trees with materialised paths in SQL tables."),
		kong.Writers(out, errs),
		kong.Vars{"version": version()},
		kong.Exit(func(code int) { exit = code }),
	)
	if err != nil {
		_, _ = fmt.Fprintln(errs, "pathlock:", err)
		return exitFailure
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit // --help or --version has been answered
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
