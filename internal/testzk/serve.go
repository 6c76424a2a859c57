package testzk

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"github.com/pathlock-go/pathlock/internal/testnet"
)

// Serve starts a single server for examples, which have no [testing.TB]: a TestMain calls it, and
// stop at the end. It returns when the server serves.
func Serve(ctx context.Context) (addr string, stop func(), err error) {
	if addr, err = testnet.FreeAddr(ctx); err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "testzk")
	if err != nil {
		return "", nil, err
	}
	command, err := prepare(dir, addr, "org.apache.zookeeper.server.ZooKeeperServerMain", nil)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	if err := process.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() {
		_ = process.Process.Kill()
		_ = process.Wait() // it was killed: that is the error
		_ = os.RemoveAll(dir)
	}
	for began := time.Now(); modeOf(ask(ctx, addr, "srvr")) == ""; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			stop()
			return "", nil, errors.New("testzk: the server does not serve")
		}
	}
	return addr, stop, nil
}

// patience is how long a server may take to serve. It bounds failures only.
const patience = 30 * time.Second
