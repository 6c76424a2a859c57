package testnet_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testnet"
)

// childVariable has this program print ports instead of running its tests, until its input ends.
const childVariable = "PATHLOCK_TEST_FREEPORT"

const each = 200

func TestNoTwoProcessesGetOnePort(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		for range each {
			port, err := testnet.FreePort(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("port", port)
		}
		fmt.Println("done")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent has heard all
		return
	}
	given := make(map[string]bool)
	take := func(port string) {
		if given[port] {
			t.Errorf("port %s is given twice", port)
		}
		given[port] = true
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoTwoProcessesGetOnePort$", "-test.v")
	child.Env = append(os.Environ(), childVariable+"=1")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for range each {
		addr, err := testnet.FreeAddr(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		take(port)
	}
	for word := ""; word != "done"; {
		if _, err := fmt.Fscan(out, &word); err != nil {
			t.Fatal(err)
		}
		if word == "port" {
			if _, err := fmt.Fscan(out, &word); err != nil {
				t.Fatal(err)
			}
			take(strings.TrimSpace(word))
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}
