package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/bench/internal/section"
)

// The section drain starts this program many times, to wait.
func TestMain(m *testing.M) {
	if section.IsWaiter() {
		if err := section.ServeWaiter(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	gin.SetMode(gin.ReleaseMode)
	goleak.VerifyTestMain(m)
}
