// Command bench compares pathlock with other ways of locking, and says which of the project's
// targets it reaches. The README explains its numbers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/bench/internal/section"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// start is main without the exit code and the signals.
func start(ctx context.Context, args []string, out io.Writer) error {
	if section.IsWaiter() {
		return section.ServeWaiter(ctx, os.Stdin, out)
	}
	gin.SetMode(gin.ReleaseMode)
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return run(ctx, o, out)
}
