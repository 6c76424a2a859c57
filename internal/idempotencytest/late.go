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
)

// checkAfterTheEnd commits under the request's context after its answer: behind a failure, whose
// repetition would have the effect again, that is refused, and the error does not blame anybody.
func (d Database) checkAfterTheEnd(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	var late context.Context
	s.gin.POST("/late/:status", s.keys.Handle, func(c *gin.Context) {
		late = context.WithoutCancel(c.Request.Context())
		c.Status(map[string]int{"500": http.StatusInternalServerError, "202": http.StatusAccepted}[c.Param("status")])
	})
	for status, want := range map[string]error{"500": idempotency.ErrEnded, "202": nil} {
		k := key()
		s.send(ask{path: "/late/" + status, key: k})
		err := gormplugin.Transaction(late, s.db, func(tx *gorm.DB) error { return tx.Create(&Order{Item: k}).Error })
		if !errors.Is(err, want) || errors.Is(err, idempotency.ErrTakenOver) {
			t.Errorf("after %s: %v, want %v", status, err, want)
		}
		if n := s.orders(t, k); (n == 0) != (want != nil) {
			t.Errorf("after %s: %d orders", status, n)
		}
	}
}
