package lockserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/bench/internal/daemon"
)

// jar is where Debian has ZooKeeper.
const jar = "/usr/share/java/zookeeper.jar"

// ZooKeeper is a single ZooKeeper that this process has started.
type ZooKeeper struct {
	// Addr is its host and port.
	Addr string

	*daemon.Daemon
}

// StartZooKeeper starts Debian's ZooKeeper. Call Stop in the end.
func StartZooKeeper(ctx context.Context) (*ZooKeeper, error) {
	java, err := exec.LookPath("java")
	if err == nil {
		_, err = os.Stat(jar)
	}
	if err != nil {
		return nil, fmt.Errorf("ZooKeeper is %w: %w", ErrMissing, err)
	}
	d, err := daemon.New("zookeeper", stopTimeout)
	if err != nil {
		return nil, err
	}
	d.Talks = true
	z := &ZooKeeper{Daemon: d}
	if err := z.run(ctx, java); err != nil {
		return nil, errors.Join(err, z.Stop())
	}
	return z, nil
}

func (z *ZooKeeper) run(ctx context.Context, java string) error {
	port, err := daemon.FreePort(ctx)
	if err != nil {
		return err
	}
	z.Addr = "127.0.0.1:" + strconv.Itoa(port)
	file := filepath.Join(z.Folder, "zoo.cfg")
	lines := []string{
		"tickTime=2000", "maxClientCnxns=0", "dataDir=" + z.Folder, "clientPort=" + strconv.Itoa(port),
		"clientPortAddress=127.0.0.1", "admin.enableServer=false", "4lw.commands.whitelist=srvr",
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	err = z.Start(ctx, java, "-Xmx256m", "-XX:+UseSerialGC", "-Dzookeeper.forceSync=no",
		"-cp", z.Folder+":"+jar, "org.apache.zookeeper.server.ZooKeeperServerMain", file)
	if err != nil {
		return err
	}
	return z.Await(ctx, startTimeout, z.serves)
}

// serves asks the server what it is.
func (z *ZooKeeper) serves(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", z.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := fmt.Fprint(conn, "srvr"); err != nil {
		return err
	}
	answer := make([]byte, len("Zookeeper version"))
	if _, err := conn.Read(answer); err != nil {
		return err
	}
	if !strings.HasPrefix(string(answer), "Zookeeper") {
		return fmt.Errorf("it says %q", answer)
	}
	return nil
}
