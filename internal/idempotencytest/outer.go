package idempotencytest

import (
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/idempotency"
)

// ginKey is the key under which idempotency keeps a request in gin's context.
const ginKey = "pathlock:request"

// checkOuterRequest checks that middleware further out has its own request again after the handler:
// what it writes then is none of the request's effects, and stays whatever was answered.
func (d Database) checkOuterRequest(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	var status int
	s.gin.POST("/audited", func(c *gin.Context) {
		outer := c.Request
		c.Set(ginKey, "before")
		c.Next()
		if c.Request != outer || outer.Form.Get("added") != "yes" {
			t.Errorf("%d: the outer request is not back, or lacks what was changed: %v", status, outer.Form)
		}
		if before, _ := c.Get(ginKey); before != "before" {
			t.Errorf("%d: the request is %v", status, before)
		}
		if err := s.db.WithContext(c.Request.Context()).Create(&Order{Item: c.GetHeader(idempotency.Header)}).Error; err != nil {
			t.Errorf("%d: the audit row: %v", status, err)
		}
	}, s.keys.Handle, func(c *gin.Context) {
		c.Request.Form = map[string][]string{"added": {"yes"}}
		c.String(status, "answer")
	})
	for _, status = range []int{http.StatusCreated, http.StatusForbidden, http.StatusConflict, http.StatusLocked, http.StatusInternalServerError} {
		k := key()
		s.send(ask{path: "/audited", key: k}).is(t, status, false, "")
		if n := s.orders(t, k); n != 1 {
			t.Errorf("%d: %d audit rows", status, n)
		}
	}
}
