package testetcd

import (
	"context"
	"fmt"
	"os"
)

// reporter is what a server needs of a test.
type reporter interface {
	Helper()
	Context() context.Context
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
	Logf(string, ...any)
	Failed() bool
}

// StartExample starts a server for an example, which has no test. The function that it returns ends
// the server. It panics where a test would fail.
func StartExample() (server *Server, end func()) {
	dir, err := os.MkdirTemp("", "pathlock-etcd-example")
	if err != nil {
		panic(err)
	}
	s := &Server{t: example{}, Addr: freeAddr(example{}), peer: freeAddr(example{}), name: "m1"}
	s.command = s.commandLine(programFor(example{}), dir, s.name+"=http://"+s.peer)
	s.Start()
	return s, func() {
		s.cleanUp()
		_ = os.RemoveAll(dir)
	}
}

// example is the reporter of an example.
type example struct{}

func (example) Helper()                           {}
func (example) Context() context.Context          { return context.Background() }
func (example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (example) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (example) Logf(string, ...any)               {}
func (example) Failed() bool                      { return false }
