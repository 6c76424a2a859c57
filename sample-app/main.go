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
	"log/slog"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/sample-app/internal/cli"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
