// Package cli is the command line: serve, import and storm.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pathlock-go/pathlock/store/anystore"
)

// Exit codes. An import or a storm ended by SIGINT exits with 130, and by SIGTERM with 143, as
// shells report it. For serve, a signal is the normal end: it exits with 0 unless requests were cut
// off.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// commands is the command line as kong reads it.
type commands struct {
	LogFormat string `help:"Format of the log: text or json." enum:"text,json" default:"text" env:"PATHLOCK_LOG_FORMAT"`

	Serve  serveCommand  `cmd:"" default:"withargs" help:"Serve the HTTP interface (the default)."`
	Import importCommand `cmd:"" help:"Turn a directory tree into a plan: directories and _test.go files become suites, test functions cases."`
	Storm  stormCommand  `cmd:"" help:"Show what concurrent changes do to a tree without protection, and with it."`
}

// streams are the outputs of a command.
type streams struct {
	out io.Writer
	log *slog.Logger
}

// Main runs a command line and returns the exit code. use is told of the program's log.
func Main(ctx context.Context, args []string, out, errs io.Writer, use ...func(*slog.Logger)) int {
	var commands commands
	exit := -1
	parser, err := kong.New(&commands,
		kong.Name("sample-app"),
		kong.Description("A test-plan backend whose tree stays right under concurrent changes. By default, it serves on http://127.0.0.1:8080."),
		kong.Vars{"db": defaultDB, "stores": strings.Join(anystore.Forms(), ", ")},
		kong.Writers(out, errs),
		kong.Exit(func(code int) { exit = code }),
	)
	if err != nil {
		_, _ = fmt.Fprintln(errs, "sample-app:", err)
		return exitFailure
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit // kong has printed the help
	}
	if err != nil {
		_, _ = fmt.Fprintf(errs, "sample-app: %s\nTry sample-app --help.\n", withoutSecrets(err.Error(), args))
		return exitUsage
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	var handler slog.Handler = slog.NewTextHandler(errs, nil)
	if commands.LogFormat == "json" {
		handler = slog.NewJSONHandler(errs, nil)
	}
	log := slog.New(handler)
	for _, u := range use {
		u(log)
	}
	err = parsed.Run(streams{out: out, log: log})
	signal := interrupted(ctx)
	switch {
	case err == nil:
		return exitOK
	case signal != nil && !errors.Is(err, errCutOff):
		_, _ = fmt.Fprintf(errs, "sample-app: interrupted (%v): %v\n", signal, err)
		return 128 + int(signal.Signal)
	default:
		_, _ = fmt.Fprintln(errs, "sample-app:", err)
		return exitFailure
	}
}
