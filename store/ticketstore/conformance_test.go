package ticketstore_test

import (
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestConformance(t *testing.T) {
	for name, set := range map[string]func(*backend){
		"a backend without limits": func(*backend) {},
		"a backend that writes a few tickets and hardly knows the time": func(b *backend) {
			b.limit, b.late = 60, 3*time.Millisecond
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) pathlock.Store {
				b := newServer().backend()
				set(b)
				return open(t, b)
			}, storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
				server := newServer()
				alive, dying := server.backend(), server.backend()
				set(alive)
				set(dying)
				return open(t, alive), open(t, dying), func() { close(dying.dead) }
			}))
		})
	}
}
