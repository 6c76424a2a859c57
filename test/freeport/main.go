// Command freeport prints a TCP port of the loopback interface that is free at the moment.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
)

func main() {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "freeport:", err)
		os.Exit(1)
	}
	defer func() { _ = listener.Close() }()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
}
