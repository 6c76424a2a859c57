// Package cli is the command line: serve, import and storm.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports it for SIGINT
)

// backend are the flags of all commands that work on a database.
type backend struct {
	DB        string        `help:"Database: sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name." default:"${db}" env:"PATHLOCK_DB" placeholder:"URL"`
	Locks     string        `help:"Lock store: memory://, redis://host:6379/0, redis+cluster://h1,h2,h3, redis+sentinel://master@h1,h2 or off://." default:"memory://" env:"PATHLOCK_LOCKS" placeholder:"URL"`
	Assert    bool          `help:"Assert in the database, in every transaction, that the paths which the work rests on are still right." default:"true" negatable:"" env:"PATHLOCK_ASSERT"`
	Namespace string        `help:"Keeps the locks of several databases apart on one lock store; alike for all instances on a database." default:"testplan" env:"PATHLOCK_NAMESPACE"`
	Wait      time.Duration `help:"How long a request waits at most for locks that others hold." default:"2s" env:"PATHLOCK_WAIT"`
	Lease     time.Duration `help:"How long the locks of an instance that died live on." default:"30s" env:"PATHLOCK_LEASE"`
	Conns     int           `help:"Connections that the database is asked for at most." default:"20" env:"PATHLOCK_DB_CONNS" name:"db-conns"`
}

// defaultDB is where the data is when nothing else is said.
const defaultDB = "sqlite://pathlock-sample.db"

func (b backend) config(log *slog.Logger) instance.Config {
	return instance.Config{
		DB: b.DB, Locks: b.Locks, Assert: b.Assert, Namespace: b.Namespace, Wait: b.Wait, Lease: b.Lease, Connections: b.Conns, Log: log,
	}
}

// commands is the command line as kong reads it.
type commands struct {
	Serve  serveCommand  `cmd:"" default:"withargs" help:"Serve the HTTP interface (the default)."`
	Import importCommand `cmd:"" help:"Turn a directory tree into a plan: directories and _test.go files become suites, test functions cases."`
	Storm  stormCommand  `cmd:"" help:"Show what happens to a tree under concurrent changes without protection, and with it."`
}

// streams are where a command writes.
type streams struct {
	out io.Writer
	log *slog.Logger
}

// Main runs a command line and returns the exit code.
func Main(ctx context.Context, args []string, out, errs io.Writer) int {
	var commands commands
	exit := -1
	parser, err := kong.New(&commands,
		kong.Name("sample-app"),
		kong.Description("A test-plan backend whose tree cannot be corrupted. Serves on http://127.0.0.1:8080 when nothing else is said."),
		kong.Vars{"db": defaultDB},
		kong.Writers(out, errs),
		kong.Exit(func(code int) { exit = code }),
	)
	if err != nil {
		_, _ = fmt.Fprintln(errs, "sample-app:", err)
		return exitFailure
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit // --help has been answered
	}
	if err != nil {
		_, _ = fmt.Fprintf(errs, "sample-app: %v\nTry sample-app --help.\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(streams{out: out, log: slog.New(slog.NewTextHandler(errs, nil))})
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(errs, "sample-app: interrupted:", err)
		return exitInterrupted
	default:
		_, _ = fmt.Fprintln(errs, "sample-app:", err)
		return exitFailure
	}
}
