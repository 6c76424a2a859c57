package zkstore

import (
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
	"github.com/pathlock-go/pathlock/store/zkstore/internal/zk"
)

func TestEphemeral(t *testing.T) {
	now := time.Now()
	state := ticketstore.State{Now: now}
	alive := zk.Session{ID: 7, Timeout: 40 * time.Second, Proven: now.Add(-8 * time.Second)}
	ticket := func(owner pathlock.Owner, lease time.Duration) ticketstore.Ticket {
		return ticketstore.Ticket{Owner: owner, Until: now.Add(lease)}
	}
	for name, c := range map[string]struct {
		session zk.Session
		ticket  ticketstore.Ticket
		want    bool
	}{
		"the locker's default lease in the default session": {alive, ticket("o", 30*time.Second), true},
		"a lease longer than the session lives":             {alive, ticket("o", 33*time.Second), false},
		"a session whose last sign of life is old":          {zk.Session{ID: 7, Timeout: 40 * time.Second, Proven: now.Add(-30 * time.Second)}, ticket("o", 15*time.Second), false},
		"no session":      {zk.Session{}, ticket("o", time.Second), false},
		"a detached hold": {alive, ticket("d-o", time.Second), false},
	} {
		if got := ephemeral(c.ticket, c.session, state); got != c.want {
			t.Errorf("%s: ephemeral is %v, want %v", name, got, c.want)
		}
	}
	old := entry{session: 7, ticket: ticket("o", 10*time.Second)}
	for name, c := range map[string]struct {
		session zk.Session
		ticket  ticketstore.Ticket
		want    bool
	}{
		"a renewal":                                  {alive, ticket("o", 20*time.Second), true},
		"a renewal for longer":                       {alive, ticket("o", time.Minute), false},
		"a renewal by another session":               {zk.Session{ID: 8, Timeout: time.Hour, Proven: now}, ticket("o", 20*time.Second), false},
		"a change by another session, the end as is": {zk.Session{ID: 8, Timeout: time.Hour, Proven: now}, ticket("o", 10*time.Second), true},
		"detached":                                   {alive, ticket("d-o", 5*time.Second), false},
	} {
		if got := stays(old, c.ticket, c.session, state); got != c.want {
			t.Errorf("%s: stays ephemeral is %v, want %v", name, got, c.want)
		}
	}
}
