// Command pathlock finds and repairs damage in SQL tables that hold trees with materialised paths.
// See pathlock fsck --help.
package main

import (
	"context"
	"os"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
