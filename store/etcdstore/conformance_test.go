package etcdstore

import (
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestConformance(t *testing.T) {
	server, client := newServer(t)
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newStore(t, client) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			line := newLine(t, server.Addr)
			return newStore(t, client), newStore(t, connect(t, line.Addr())), line.cut
		}), storetest.Silence(func(t *testing.T) storetest.Silent {
			line := newLine(t, server.Addr)
			store := newStore(t, connect(t, line.Addr()), WithTimeout(time.Second))
			t.Cleanup(line.Resume)
			return storetest.Silent{Store: store, Timeout: time.Second, Stop: line.Pause, Resume: line.Resume, Other: newStore(t, client)}
		}))
}
