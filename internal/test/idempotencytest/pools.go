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
// noted there, so nothing is written unless the handler asks for it.
func (d Database) checkPools(t *testing.T) {
	for name, c := range map[string]struct {
		url string
		// table says that the database has a table of keys.
		table bool
		in    func(ctx context.Context) context.Context
		// again is what a repetition of a request is answered whose answer was lost.
		again string
		err   error
	}{
		"the same database":           {url: d.URL, again: "idempotency-answer-lost"},
		"another database":            {url: d.Other, err: idempotency.ErrElsewhere},
		"another, with a table":       {url: d.Other, table: true, err: idempotency.ErrElsewhere},
		"another, which is asked for": {url: d.Other, in: idempotency.AtLeastOnce},
	} {
		t.Run(name, func(t *testing.T) {
			s, other := d.open(t, idempotency.Config{}), Database{URL: c.url, Dialector: d.Dialector}.open(t, idempotency.Config{})
			testerr.Must(t, other.db.AutoMigrate(&Order{}))
			if c.table {
				testerr.Must(t, other.keys.Migrate(t.Context()))
				defer func() { _ = other.db.Migrator().DropTable("pathlock_idempotency") }()
			}
			var err error
			s.gin.POST("/pools/:recorded", s.keys.Handle, func(gc *gin.Context) {
				ctx := gc.Request.Context()
				if c.in != nil {
					ctx = c.in(ctx)
				}
				o := &Order{Item: gc.GetHeader(idempotency.Header)}
				err = gormplugin.Transaction(ctx, other.db, func(tx *gorm.DB) error {
					if err := tx.Create(o).Error; err != nil || gc.Param("recorded") == "no" {
						return err
					}
					return idempotency.RecordJSON(tx, http.StatusCreated, o)
				})
				gc.Status(http.StatusInternalServerError) // the answer is lost
			})
			for _, recorded := range []string{"no", "yes"} {
				k := key()
				one := ask{path: "/pools/" + recorded, key: k}
				s.send(one).is(t, http.StatusInternalServerError, false, "")
				want := c.err
				if c.in != nil && recorded == "yes" {
					want = idempotency.ErrElsewhere // where should the answer be?
				}
				if !errors.Is(err, want) || errors.Is(err, idempotency.ErrTakenOver) {
					t.Errorf("recorded: %s: %v, want %v", recorded, err, want)
				}
				// That the other database has no table would ask the client to come again.
				explains, _ := other.db.Plugins[(*gormplugin.Plugin)(nil).Name()].(*gormplugin.Plugin)
				if f := explains.FailureOf(err); want != nil && f != "" {
					t.Errorf("recorded: %s: it counts as %q: %v", recorded, f, err)
				}
				written := int64(1)
				switch again := s.send(one); {
				case want != nil:
					written = 0
				case c.again == "":
					written = 2 // at least once
				case recorded == "yes":
					again.is(t, http.StatusCreated, true, "")
				default:
					again.is(t, http.StatusConflict, false, c.again)
				}
				if n := other.orders(t, k); n != written {
					t.Errorf("recorded: %s: %d orders, want %d", recorded, n, written)
				}
			}
		})
	}
}
