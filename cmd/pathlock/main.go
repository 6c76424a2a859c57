// Command pathlock shows, explains and releases the locks of trees, examines the lock stores and
// databases that they rest on, and repairs tables that hold trees with materialised paths. See
// pathlock --help.
package main

import (
	"context"
	"os"

	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
)

func main() {
	os.Exit(command.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
