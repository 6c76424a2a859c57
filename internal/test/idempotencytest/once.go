package idempotencytest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// oncePath is the path by which [Child] is told to consume a message instead of serving a request.
const oncePath = "once"

// newConsumer opens an instance that has no plugin, and serves no requests.
func newConsumer(dialector gorm.Dialector, config idempotency.Config) (*shop, error) {
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	s := &shop{db: db}
	if s.keys, err = idempotency.New(db, config); err != nil {
		return nil, err
	}
	// It runs between the note and the COMMIT.
	recorded := func(db *gorm.DB) {
		if strings.Contains(db.Statement.SQL.String(), "state = 2") {
			s.step("recorded")
		}
	}
	return s, db.Callback().Raw().After("gorm:raw").Register("idempotencytest:recorded", recorded)
}

// openConsumer opens one, and closes it at the end of the test.
func (d Database) openConsumer(t *testing.T, config idempotency.Config) *shop {
	t.Helper()
	s, err := newConsumer(d.Dialector(d.URL), config)
	testerr.Must(t, err)
	closeAtEnd(t, s.db)
	return s
}

// message is the key of a message that nobody else sends.
func message() idempotency.Key {
	return idempotency.Key{Scope: "billing: orders", ID: key(), Payload: []byte("an order")}
}

// consume makes one order of a message.
func (s *shop) consume(ctx context.Context, m idempotency.Key) (Order, error) {
	o, err := idempotency.Once(ctx, s.keys, m, func(tx *gorm.DB) (Order, error) {
		s.step("claimed")
		o := Order{Item: m.ID}
		err := tx.Create(&o).Error
		s.step("written")
		return o, err
	})
	s.step("committed")
	return o, err
}

// checkOnce checks what is done once without HTTP, on a DB without the plugin.
func (d Database) checkOnce(t *testing.T) {
	t.Run("repeated", d.checkOnceRepeated)
	t.Run("failed", d.checkOnceFailed)
	t.Run("taken over", d.checkOnceTakenOver)
	t.Run("storm", d.checkOnceStorm)
	t.Run("killed", d.checkOnceKilled)
}

// checkOnceRepeated repeats a message as it was, with another payload, to another consumer, with
// the key of a request, and after its time. Without a Config.Scope no requests are served.
func (d Database) checkOnceRepeated(t *testing.T) {
	s, m := d.openConsumer(t, idempotency.Config{Log: slog.New(slog.DiscardHandler)}), message()
	first, err := s.consume(t.Context(), m)
	again, errAgain := s.consume(t.Context(), m)
	if err := errors.Join(err, errAgain); err != nil || first.ID == 0 || again != first {
		t.Errorf("%+v, then %+v, %v", first, again, err)
	}
	s.expectOrders(t, m.ID, 1)

	other := m
	other.Payload = []byte("another order")
	testerr.Is(t, "another payload", testerr.Of(s.consume(t.Context(), other)), idempotency.ErrReused)
	other.Scope = "mailing: orders"
	if o, err := s.consume(t.Context(), other); err != nil || o == first {
		t.Errorf("another consumer: %+v, %v", o, err)
	}
	s.expectOrders(t, m.ID, 2)
	for _, bad := range []idempotency.Key{{ID: "x"}, {Scope: "x"}} {
		if _, err := s.consume(t.Context(), bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	d.open(t, idempotency.Config{}).send(ask{path: "/plain", key: m.ID, user: m.Scope, body: item(m.ID)}).is(t, http.StatusCreated, false, "")
	s.gin = gin.New()
	s.gin.POST("/", s.keys.Handle)
	s.send(ask{path: "/"}).is(t, http.StatusInternalServerError, false, "internal") // whose keys are they?

	testerr.Must(t, s.db.Exec("UPDATE "+"pathlock_idempotency"+" SET expires_at = 1").Error)
	if n, err := s.keys.Purge(t.Context()); err != nil || n < 3 {
		t.Errorf("%d deleted, %v", n, err)
	}
	if o, err := s.consume(t.Context(), m); err != nil || o == first {
		t.Errorf("after its time: %+v, %v", o, err)
	}
}

// checkOnceFailed has the work fail after it has written: nothing of it stays, and the key is free
// at once.
func (d Database) checkOnceFailed(t *testing.T) {
	failure := errors.New("no such product")
	s := d.openConsumer(t, idempotency.Config{Wait: pathlock.NoWait, MaxAnswer: 100})
	for name, fail := range map[string]func() (string, error){
		"an error":           func() (string, error) { return "x", failure },
		"a panic":            func() (string, error) { panic(failure) },
		"a result too large": func() (string, error) { return strings.Repeat("x", 100), nil },
	} {
		m := message()
		func() {
			defer func() { _ = recover() }()
			got, err := idempotency.Once(t.Context(), s.keys, m, func(tx *gorm.DB) (string, error) {
				testerr.None(t, tx.Create(&Order{Item: m.ID}).Error)
				return fail()
			})
			if err == nil || got != "" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}()
		s.expectOrders(t, m.ID, 0)
		if _, err := s.consume(t.Context(), m); err != nil {
			t.Errorf("%s: again: %v", name, err)
		}
		s.expectOrders(t, m.ID, 1)
	}
}

// checkOnceTakenOver has a consumer sleep past its lease: it cannot commit any more. Before that,
// who may not wait is told that somebody is at it.
func (d Database) checkOnceTakenOver(t *testing.T) {
	s := d.openConsumer(t, idempotency.Config{})
	if s.db.Name() == "sqlite" {
		t.Skip("whoever has begun a transaction has the whole database")
	}
	arrived, goOn := s.pausing("written")
	m := message()
	var first sync.WaitGroup
	first.Go(func() {
		if o, err := s.consume(t.Context(), m); !errors.Is(err, idempotency.ErrTakenOver) || o != (Order{}) {
			t.Errorf("the one that slept: %+v, %v", o, err)
		}
	})
	await(t, arrived)
	other := d.openConsumer(t, idempotency.Config{Wait: pathlock.NoWait})
	testerr.Is(t, "the first one is at it", testerr.Of(other.consume(t.Context(), m)), idempotency.ErrInUse)
	s.lapse(t)
	winner, err := other.consume(t.Context(), m)
	close(goOn)
	first.Wait()
	again, errAgain := s.consume(t.Context(), m)
	if err := errors.Join(err, errAgain); err != nil || again != winner {
		t.Errorf("%+v, then %+v, %v", winner, again, err)
	}
	s.expectOrders(t, m.ID, 1)
}

// checkOnceStorm delivers each message many times at once, to two instances.
func (d Database) checkOnceStorm(t *testing.T) {
	const messages, copies = 12, 12
	instances := []*shop{d.openConsumer(t, idempotency.Config{Wait: time.Minute}), d.openConsumer(t, idempotency.Config{Wait: time.Minute})}
	var all sync.WaitGroup
	got := make([][copies]Order, messages)
	sent := make([]idempotency.Key, messages)
	for i := range messages {
		sent[i] = message()
		for n := range copies {
			all.Go(func() {
				var err error
				if got[i][n], err = instances[n%2].consume(t.Context(), sent[i]); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for i, m := range sent {
		for _, o := range got[i] {
			if o != got[i][0] || o.Item != m.ID {
				t.Errorf("%s: %+v and %+v", m.ID, got[i][0], o)
			}
		}
		instances[0].expectOrders(t, m.ID, 1)
	}
}

// checkOnceKilled kills the process at each step, and delivers the message again.
func (d Database) checkOnceKilled(t *testing.T) {
	s := d.openConsumer(t, idempotency.Config{Wait: time.Minute, Lease: time.Second})
	for _, step := range []string{"claimed", "written", "recorded", "committed"} {
		t.Run(step, func(t *testing.T) {
			m := message()
			d.killChild(t, oncePath, m.ID, step)
			before := s.orders(t, m.ID)
			if committed := before == 1; committed != (step == "committed") {
				t.Errorf("%d orders before the repetition", before)
			}
			if o, err := s.consume(t.Context(), m); err != nil || o.Item != m.ID {
				t.Errorf("%+v, %v", o, err)
			}
			s.expectOrders(t, m.ID, 1)
		})
	}
}

// consumeOnce is the work of a [Child] that consumes a message.
func consumeOnce(dialector gorm.Dialector, id string, at func(step string)) error {
	s, err := newConsumer(dialector, idempotency.Config{Lease: time.Second})
	if err != nil {
		return err
	}
	s.at = at
	m := message()
	m.ID = id
	o, err := s.consume(context.Background(), m)
	return fmt.Errorf("%+v, %w", o, err)
}
