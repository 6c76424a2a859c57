package testetcd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// Variable is the environment variable that has the path of an etcd to use instead of building one.
const Variable = "PATHLOCK_TEST_ETCD"

var program struct {
	once sync.Once
	path string
	err  error
	log  []byte
}

// executable returns the path of the etcd server. It builds the server if need be.
func executable(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(Variable); path != "" {
		return path
	}
	program.once.Do(func() { program.path, program.log, program.err = build() })
	if program.err != nil {
		t.Fatalf("building etcd: %v\n%s", program.err, program.log)
	}
	return program.path
}

// build builds the server where all tests of this user find it. The go command does nothing if it
// is up to date.
func build() (path string, log []byte, err error) {
	dir := filepath.Join(os.TempDir(), "pathlock-etcd-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	// Test processes of several packages build one after the other.
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", nil, err
	}
	module, err := moduleFolder()
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "etcd")
	command := exec.CommandContext(context.Background(), "go", "build", "-o", path, ".")
	command.Dir = module
	command.Env = append(os.Environ(), "GOFLAGS=") // the workspace's versions have been compiled before
	log, err = command.CombinedOutput()
	return path, log, err
}

// moduleFolder returns the server's module, which is below a folder that the test's is in.
func moduleFolder() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		module := filepath.Join(dir, "internal", "test", "testetcd", "etcdserver")
		if _, err := os.Stat(module); err == nil || dir == filepath.Dir(dir) {
			return module, err
		}
	}
	return "", err
}
