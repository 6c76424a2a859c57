package gormplugin_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// galeraProvider is where Debian's packages put the library that makes a cluster of MariaDB
// servers.
const galeraProvider = "/usr/lib/galera/libgalera_smm.so"

// freePorts returns ports of a node's own.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		port, err := testnet.FreePort(t.Context())
		must(t, err)
		ports[i], err = strconv.Atoi(port)
		must(t, err)
	}
	return ports
}

// galeraNode starts a node of a cluster; the first one, without another's address, begins it. It
// returns how to connect to it, and the address for others.
func galeraNode(t *testing.T, others string) (config *mysqldriver.Config, address string) {
	t.Helper()
	// Another user than root cannot get into a folder of t.TempDir.
	dir, err := os.MkdirTemp("", "galera")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ports, as := freePorts(t, 4), "root"
	if mysql, err := user.Lookup("mysql"); err == nil && os.Getuid() == 0 {
		// rsync, which brings a node its data, gives root's rights up.
		as = mysql.Username
		uid, err := strconv.Atoi(mysql.Uid)
		must(t, errors.Join(err, os.Chown(dir, uid, -1)))
	}
	install := exec.CommandContext(t.Context(), "mariadb-install-db", "--no-defaults", "--datadir="+dir, "--auth-root-authentication-method=normal", "--skip-test-db", "--user="+as)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address = fmt.Sprintf("127.0.0.1:%d", ports[1])
	log, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	server := exec.CommandContext(context.Background(), "mariadbd", "--no-defaults", "--user="+as, "--datadir="+dir, fmt.Sprintf("--port=%d", ports[0]),
		"--socket="+filepath.Join(dir, "s"), "--bind-address=127.0.0.1", "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--innodb-flush-log-at-trx-commit=0",
		"--innodb-buffer-pool-size=32M", "--wsrep-on=ON", "--wsrep-provider="+galeraProvider, "--wsrep-cluster-address=gcomm://"+others, "--wsrep-cluster-name=trees",
		"--wsrep-node-address=127.0.0.1", "--wsrep-sst-method=rsync", fmt.Sprintf("--wsrep-sst-receive-address=127.0.0.1:%d", ports[2]),
		fmt.Sprintf("--wsrep-provider-options=base_port=%d;gmcast.listen_addr=tcp://%s;ist.recv_addr=127.0.0.1:%d;gcache.size=8M", ports[1], address, ports[3]))
	server.Stdout, server.Stderr = log, log
	must(t, server.Start())
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	config = mysqldriver.NewConfig()
	config.User, config.Net, config.Addr, config.ParseTime = "root", "tcp", fmt.Sprintf("127.0.0.1:%d", ports[0]), true
	config.Logger = new(mysqldriver.NopLogger)
	pool := sql.OpenDB(mysqlConnector(t, config))
	defer func() { _ = pool.Close() }()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		t.Log("the node has ended:", <-ended)
		_ = log.Close()
	})
	deadline, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for {
		var name, ready string
		if err := pool.QueryRowContext(deadline, "SHOW STATUS LIKE 'wsrep_ready'").Scan(&name, &ready); err == nil && ready == "ON" {
			return config, address
		}
		select {
		case err := <-ended:
			ended <- err
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("the node has ended: %v\n%s", err, text)
		case <-deadline.Done():
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("the node is not ready\n%s", text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// openNode opens a DB on a node, with a lock store that nobody else has: one that grants
// everything.
func openNode(t *testing.T, node *mysqldriver.Config, options ...gormplugin.Option) *gorm.DB {
	t.Helper()
	node = node.Clone()
	node.DBName = "trees"
	pool := sql.OpenDB(mysqlConnector(t, node))
	t.Cleanup(func() { _ = pool.Close() })
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: pool}), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), append(options, gormplugin.Model(&gormplugintest.Branch{}))...)))
	return db
}

// That several writable servers are unsafe is no theory: two nodes each certify one half of a
// cycle. Verify finds the cluster, and believes who says that one node alone is written to.
func TestMySQLGalera(t *testing.T) {
	if _, err := os.Stat(galeraProvider); err != nil {
		testserver.Missing(t, "Galera is not installed: there is no "+galeraProvider)
	}
	first, address := galeraNode(t, "")
	pool := sql.OpenDB(mysqlConnector(t, first))
	_, err := pool.ExecContext(t.Context(), "CREATE DATABASE trees CHARACTER SET utf8mb4")
	must(t, errors.Join(err, pool.Close()))
	second, _ := galeraNode(t, address)
	one, other := openNode(t, first), openNode(t, second)
	if err := gormplugin.AutoMigrate(one); !errors.Is(err, gormplugin.ErrUnsafeSchema) {
		t.Fatalf("AutoMigrate: got the error %v, want what Verify says of a cluster", err)
	}

	root := &gormplugintest.Branch{TreeID: 1}
	must(t, one.Create(root).Error)
	a, b := &gormplugintest.Branch{ParentID: &root.ID, Name: "a"}, &gormplugintest.Branch{ParentID: &root.ID, Name: "b"}
	must(t, one.Create(a).Error)
	must(t, one.Create(b).Error)
	must(t, one.Exec("CREATE TABLE held (id INT PRIMARY KEY)").Error)
	// The other node has all of it, and then applies nothing: what comes next in order has to wait.
	must(t, other.Connection(func(conn *gorm.DB) error {
		must(t, conn.Exec("SET SESSION wsrep_sync_wait = 1").Error)
		must(t, conn.Take(&gormplugintest.Branch{}, b.ID).Error)
		must(t, conn.Exec("LOCK TABLES held WRITE").Error)
		must(t, one.Exec("INSERT INTO held VALUES (1)").Error)
		must(t, gormplugin.Move(one, &gormplugintest.Branch{}, a.ID, gormplugin.Below(b.ID)))
		moved := make(chan error, 1)
		go func() { moved <- gormplugin.Move(other, &gormplugintest.Branch{}, b.ID, gormplugin.Below(a.ID)) }()
		for now := *b; *now.ParentID != a.ID; {
			select {
			case err := <-moved:
				t.Fatalf("the other node has not taken its half of the cycle: %v", err)
			case <-time.After(10 * time.Millisecond):
				now = gormplugintest.Branch{}
				must(t, one.Take(&now, b.ID).Error)
			}
		}
		must(t, conn.Exec("UNLOCK TABLES").Error)
		return <-moved
	}))
	for _, db := range []*gorm.DB{one, other} {
		findings := found(t, db)
		if len(findings) != 1 || findings[0].Check != treeschema.Writers || findings[0].Severity != treeschema.Unsafe || !strings.Contains(findings[0].Advice, "one node") {
			t.Errorf("found %v, want the cluster", findings)
		}
	}
	must(t, gormplugin.Verify(openNode(t, first, gormplugin.OneWriter())))
}
