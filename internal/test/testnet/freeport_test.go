package testnet

import (
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// TestFreeAddr: nobody listens there, even while other processes are started.
func TestFreeAddr(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var starting sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		starting.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = exec.CommandContext(t.Context(), self, "-test.run=^$").Run()
				}
			}
		})
	}
	for range 1000 {
		addr := FreeAddr(t)
		if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr); err == nil {
			_ = conn.Close()
			t.Errorf("somebody listens at %s", addr)
		}
	}
	close(done)
	starting.Wait()
}
