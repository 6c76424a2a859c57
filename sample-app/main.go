// The command sample-app is a test-plan backend: projects hold plans, a plan is a tree of suites,
// and suites hold cases. It shows how pathlock keeps such a tree right while several instances
// change it at once.
//
//	go run ./sample-app                                   # serve on 127.0.0.1:8080
//	go run ./sample-app import --plan go-src "$(go env GOROOT)/src"
//	go run ./sample-app storm                             # see what happens without protection
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Exit codes. Once an instance serves, a signal is its normal end: it exits with 0 unless requests
// were cut off.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	// exitInterrupted is how a shell reports SIGINT.
	exitInterrupted = 130
)

// oneSignal is the time within which signals count as one. timeout(1), for example, sends a signal
// to a process and then to its group. A later one ends the process at once.
const oneSignal = time.Second

// commands is the command line as kong reads it.
type commands struct {
	Serve  serveCommand  `cmd:"" default:"withargs" help:"Serve the HTTP interface (the default)."`
	Import importCommand `cmd:"" help:"Turn a directory tree into a plan: directories become suites, and the _test.go files in them cases."`
	Storm  stormCommand  `cmd:"" help:"Show what concurrent changes do to a tree without protection, and with it."`
}

// streams are the outputs of a command.
type streams struct {
	out io.Writer
	log *slog.Logger
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run runs a command line and returns the exit code. It logs to errs.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	var commands commands
	exit := -1
	parser := kong.Must(&commands,
		kong.Name("sample-app"),
		kong.Description("A test-plan backend whose tree stays right under concurrent changes. By default, it serves on http://127.0.0.1:8080."),
		kong.Vars{"db": defaultDB, "stores": strings.Join(anystore.Forms(instance.Stores...), ", ")},
		kong.Writers(out, errs),
		kong.Exit(func(code int) { exit = code }),
	)
	parsed, err := parser.Parse(args)
	if exit >= 0 {
		return exit // kong has printed the help
	}
	if err != nil {
		_, _ = fmt.Fprintf(errs, "sample-app: %s\nTry sample-app --help.\n", shown.WithoutSecrets(err.Error(), args))
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(oneSignal, stop) })
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(streams{out: out, log: slog.New(slog.NewTextHandler(errs, nil))})
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && !errors.Is(err, errCutOff):
		_, _ = fmt.Fprintln(errs, "sample-app: interrupted:", err)
		return exitInterrupted
	default:
		_, _ = fmt.Fprintln(errs, "sample-app:", err)
		return exitFailure
	}
}
