package idempotencytest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// checkPools has handlers write by another pool of connections than that of the keys. Where it
// leads to the same database, the effect takes place once. Where it leads elsewhere, it cannot be
// noted there, so nothing is written unless the handler asks for it. The answer is lost.
func (d Database) checkPools(t *testing.T) {
	elsewhere := idempotency.ErrElsewhere
	for _, c := range []struct {
		name, url string
		// table says that the database has a table of keys, recorded that the answer is recorded,
		// and unknown that the handler wants a transaction of which the keys do not know.
		table, recorded, unknown bool
		err                      error
		orders                   int64 // after a repetition, which is answered with status
		status                   int
	}{
		{"the same database", d.URL, true, false, false, nil, 1, http.StatusConflict},
		{"the same, recorded", d.URL, true, true, false, nil, 1, http.StatusCreated},
		{"another", d.Other, false, false, false, elsewhere, 0, http.StatusInternalServerError},
		{"another, recorded", d.Other, false, true, false, elsewhere, 0, http.StatusInternalServerError},
		{"another, asked for", d.Other, false, false, true, nil, 2, http.StatusInternalServerError},
		{"another, asked for, recorded", d.Other, false, true, true, elsewhere, 0, http.StatusInternalServerError}, // where should the answer be?
		{"another with a table", d.Other, true, false, false, elsewhere, 0, http.StatusInternalServerError},
		{"another with a table, recorded", d.Other, true, true, false, elsewhere, 0, http.StatusInternalServerError},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, other := d.open(t, idempotency.Config{}), Database{URL: c.url, Dialector: d.Dialector}.open(t, idempotency.Config{})
			testerr.Must(t, other.db.AutoMigrate(&Order{}))
			if c.table {
				testerr.Must(t, other.keys.Migrate(t.Context()))
			}
			var err error
			s.gin.POST("/pools", s.keys.Handle, func(gc *gin.Context) {
				ctx := gc.Request.Context()
				if c.unknown {
					ctx = idempotency.AtLeastOnce(ctx)
				}
				o := &Order{Item: gc.GetHeader(idempotency.Header)}
				err = gormplugin.Transaction(ctx, other.db, func(tx *gorm.DB) error {
					if err := tx.Create(o).Error; err != nil || !c.recorded {
						return err
					}
					return idempotency.RecordJSON(tx, http.StatusCreated, o)
				})
				gc.Status(http.StatusInternalServerError)
			})
			one := ordering("/pools", key())
			first := s.send(context.Background(), one)
			if !errors.Is(err, c.err) || errors.Is(err, idempotency.ErrTakenOver) || first.status != http.StatusInternalServerError || first.replayed {
				t.Errorf("%d, %v, want %v", first.status, err, c.err)
			}
			// That the other database has no table would ask the client to come again.
			explains, _ := other.db.Plugins[(*gormplugin.Plugin)(nil).Name()].(*gormplugin.Plugin)
			if f := explains.FailureOf(err); c.err != nil && f != "" {
				t.Errorf("it counts as %q: %v", f, err)
			}
			if again := s.send(context.Background(), one); again.status != c.status || again.replayed != (c.status == http.StatusCreated) {
				t.Errorf("a repetition is answered with %d %s, want %d", again.status, again.body, c.status)
			}
			other.expectOrders(t, one.keys[0], c.orders)
		})
	}
}

// checkAfterTheEnd commits under the request's context after its answer: behind a failure, whose
// repetition would have the effect again, that is refused, and the error does not blame anybody.
func (d Database) checkAfterTheEnd(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	var late context.Context
	status := 0
	s.gin.POST("/late", s.keys.Handle, func(c *gin.Context) {
		late = context.WithoutCancel(c.Request.Context())
		c.Status(status)
	})
	for _, c := range []struct {
		status int
		err    error
		orders int64
	}{{http.StatusInternalServerError, idempotency.ErrEnded, 0}, {http.StatusAccepted, nil, 1}} {
		status = c.status
		one := ordering("/late", key())
		s.send(t.Context(), one)
		err := gormplugin.Transaction(late, s.db, func(tx *gorm.DB) error { return tx.Create(&Order{Item: one.keys[0]}).Error })
		if !errors.Is(err, c.err) || errors.Is(err, idempotency.ErrTakenOver) {
			t.Errorf("after %d: %v, want %v", c.status, err, c.err)
		}
		s.expectOrders(t, one.keys[0], c.orders)
	}
}
