//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Processes that an interrupted or endless test leaves behind end with it.
func TestOwnGroup_endsTheRest(t *testing.T) {
	for what, script := range map[string]string{"at the end": "sleep 1000 >/dev/null 2>&1 &", "when interrupted": "sleep 1000 >/dev/null 2>&1 & wait"} {
		t.Run(what, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			left, held, err := os.Pipe()
			testerr.Must(t, err)
			defer func() { _ = left.Close() }()
			cmd := exec.CommandContext(ctx, "sh", "-c", script)
			cmd.ExtraFiles = []*os.File{held}
			end := ownGroup(cmd)
			_ = cmd.Run()
			end()
			testerr.Must(t, held.Close())
			testerr.Must(t, left.SetReadDeadline(time.Now().Add(10*time.Second)))
			testerr.Must(t, testerr.Of(io.ReadAll(left))) // ends with the last process that has it
		})
	}
}
