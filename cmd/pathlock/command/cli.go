// Package command is the command line of pathlock, for programs that build it with a lock store of
// their own:
//
//	func main() {
//		ctx, own := context.Background(), anystore.WithScheme("consul", consulstore.Open)
//		os.Exit(command.Main(ctx, os.Args[1:], os.Stdout, os.Stderr, own))
//	}
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Exit codes, as of fsck(8).
const (
	exitClean   = 0
	exitMended  = 1
	exitLeft    = 4
	exitFailure = 8
	exitUsage   = 16
	// The exit codes of lock and elect beside those of the command they run: as of timeout(1).
	exitLost       = 123
	exitNotGranted = 124
	exitNotRun     = 125
	exitNoProgram  = 126
	exitNotFound   = 127
	// exitSignal and the number of a signal that ended the command are what a shell reports.
	exitSignal = 128
	// exitWarned is for warnings of the doctor, if they count.
	exitWarned = 2
	// exitInterrupted is how a shell reports SIGINT.
	exitInterrupted = 130
	// exitUnset says that a command leaves its exit code to its error.
	exitUnset = -1
)

// commands is the command line in the form that kong reads: each field is a subcommand or a flag.
type commands struct {
	Ls      lsCommand      `cmd:"" help:"Show the trees with holders or waiters, or one tree's."`
	Watch   watchCommand   `cmd:"" help:"Show each change of holders and waiters."`
	Explain explainCommand `cmd:"" help:"Show what an operation would lock, and who blocks it now."`
	Release releaseCommand `cmd:"" help:"Take a lock away from its holder."`
	Lock    lockCommand    `cmd:"" help:"Run a command under a lock."`
	Elect   electCommand   `cmd:"" help:"Run a command while this process leads an election."`
	Doctor  doctorCommand  `cmd:"" help:"Examine a lock store, a database, or both."`
	Fsck    fsckCommand    `cmd:"" help:"Check the trees of a table, and repair them."`
	Adopt   adoptCommand   `cmd:"" help:"Find the tables that hold trees, and say what a program must write for them."`

	Version kong.VersionFlag `help:"Show the version."`
}

// newParser returns a parser that fills in commands.
func newParser(commands *commands, stores storeOptions, opts ...kong.Option) *kong.Kong {
	return kong.Must(commands, append([]kong.Option{
		kong.Name("pathlock"),
		kong.Description("Shows, explains and releases locks on trees, checks the servers that they depend on, and repairs trees in tables."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": version(), "stores": stores.forms()},
		kong.Bind(stores),
	}, opts...)...)
}

// Main runs a command line and returns the exit code. SIGINT and SIGTERM end a repair between two
// transactions. A second signal ends the process at once. The options add lock stores to
// [doctor.Stores].
func Main(ctx context.Context, args []string, out, errs io.Writer, stores ...anystore.Option) int {
	slog.SetLogLoggerLevel(slog.LevelError) // the client of Redis would warn between the lines of a report
	var commands commands
	exit := -1
	parser := newParser(&commands, slices.Concat(doctor.Stores, stores), kong.Writers(out, errs), kong.Exit(func(code int) { exit = code }))
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit // kong has answered --help or --version
	}
	if err != nil {
		_, _ = fmt.Fprintf(errs, "pathlock: %s\nTry pathlock --help.\n", printable(shown.WithoutSecrets(err.Error(), args)))
		return exitUsage
	}
	ends := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(os.Interrupt) { // a shell script has what it starts in the background ignore it
		ends = append(ends, os.Interrupt)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	defer stop()
	context.AfterFunc(ctx, stop)
	output, code := newOutput(out, errs), exitUnset
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(output, &code)
	if failed := output.flush(); err == nil && !errors.Is(failed, syscall.EPIPE) { // which only watch lives to see
		err = failed
	}
	if code == exitUnset {
		code, err = codeOf(ctx, err)
	}
	if err != nil {
		output.warn(strings.ReplaceAll(err.Error(), "\n\t", " ")) // PostgreSQL's driver gives each address a line
	}
	return code
}

// codeOf returns the exit code for the error of a command that has set none.
func codeOf(ctx context.Context, err error) (int, error) {
	switch {
	case err == nil:
		return exitClean, nil
	case errors.Is(err, errUsage):
		return exitUsage, err
	case ctx.Err() != nil:
		return exitInterrupted, fmt.Errorf("interrupted: %w", err)
	default:
		return exitFailure, err
	}
}

// version describes the program's version, which names the source revision of a build from a
// checkout, and the Go version.
func version() string {
	version := "unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	return "pathlock " + version + ", " + runtime.Version()
}
