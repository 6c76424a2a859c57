// Command pathlock looks after trees with materialised paths: pathlock fsck checks and repairs
// them.
package main

import (
	"context"
	"os"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
