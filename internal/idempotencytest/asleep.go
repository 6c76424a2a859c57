package idempotencytest

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/idempotency"
)

// checkAsleep has a process sleep past its lease within the transaction that has recorded the
// answer. A repetition is refused as while the request runs: it does not wait for the transaction.
func (d Database) checkAsleep(t *testing.T) {
	s, other := d.open(t, idempotency.Config{}), d.open(t, idempotency.Config{Wait: idempotency.NoWait})
	if s.db.Name() == "sqlite" {
		t.Skip("whoever writes has the whole database: a repetition waits for the busy timeout, as all who write do")
	}
	asleep, awake := make(chan struct{}), make(chan struct{})
	wake := sync.OnceFunc(func() { close(awake) })
	s.at = func(step string) {
		switch step {
		case "claimed":
			s.lapse(t)
		case "recorded":
			close(asleep)
			<-awake
		}
	}
	k := key()
	one := ask{path: "/recorded", key: k, body: item(k)}
	var first sync.WaitGroup
	first.Go(func() { s.send(one).is(t, http.StatusCreated, false, "") })
	await(t, asleep)
	// Who waits for the transaction gets its answer once it ends, which is not what is wanted.
	alarm := time.AfterFunc(20*time.Second, wake)
	for range 3 {
		other.send(one).is(t, http.StatusConflict, false, "idempotency-key-in-use")
	}
	alarm.Stop()
	wake()
	first.Wait()
	other.send(one).is(t, http.StatusCreated, true, "")
	if n := s.orders(t, k); n != 1 {
		t.Errorf("%d orders", n)
	}
}
