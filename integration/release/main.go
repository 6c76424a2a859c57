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
	"time"
)

// errUsage says that the command line is wrong.
var errUsage = errors.New("release: wrong command line")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, time.Now())
	stop()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the command line in the repository around the working directory.
func run(ctx context.Context, args []string, out io.Writer, now time.Time) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	write := flags.Bool("write", false, "commit and tag")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return fmt.Errorf("%w: go run ./integration/release [-write] v0.1.0", errUsage)
	}
	root, err := repository(".").git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	r := release{repo: repository(root), version: flags.Arg(0), date: now.UTC().Format(time.DateOnly)}
	if err := r.check(ctx); err != nil {
		return err
	}
	return r.make(ctx, out, *write)
}
