package idempotencytest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/idempotency"
)

// checkAnswersOfOthers checks that an error of which a middleware further out makes an answer is
// not recorded as the empty answer that the handler has left.
func (d Database) checkAnswersOfOthers(t *testing.T) {
	failure := errors.New("no such product")
	for name, fail := range map[string]gin.HandlerFunc{
		"an error that is added":  func(c *gin.Context) { _ = c.Error(failure) },
		"an error with a status":  func(c *gin.Context) { _ = c.AbortWithError(http.StatusNotFound, failure) },
		"an error, and a status":  func(c *gin.Context) { c.Status(http.StatusUnprocessableEntity); _ = c.Error(failure) },
		"an error of a rollback":  func(c *gin.Context) { c.Abort(); _ = c.Error(failure) },
		"two errors of a handler": func(c *gin.Context) { _ = c.Error(failure); _ = c.Error(failure) },
	} {
		s := d.open(t, idempotency.Config{})
		broken := true
		s.gin.POST("/errors", func(c *gin.Context) {
			c.Next()
			if len(c.Errors) > 0 {
				c.String(http.StatusBadGateway, c.Errors.String())
			}
		}, s.keys.Handle, func(c *gin.Context) {
			o := &Order{Item: c.GetHeader(idempotency.Header)}
			err := s.db.WithContext(c.Request.Context()).Transaction(func(tx *gorm.DB) error {
				if err := tx.Create(o).Error; err != nil || !broken {
					return err
				}
				return failure
			})
			if err != nil {
				fail(c)
				return
			}
			c.JSON(http.StatusCreated, o)
		})
		k := key()
		one := ask{path: "/errors", key: k}
		for range 2 {
			if a := s.send(one); a.status < http.StatusBadRequest || a.replayed || !strings.Contains(a.body, failure.Error()) {
				t.Errorf("%s: %d %q, replayed: %v", name, a.status, a.body, a.replayed)
			}
		}
		broken = false
		s.send(one).is(t, http.StatusCreated, false, "")
		s.send(one).is(t, http.StatusCreated, true, "")
		if n := s.orders(t, k); n != 1 {
			t.Errorf("%s: %d orders", name, n)
		}
	}
}

// checkFailuresByGoing has a request fail because its context has ended, as the client went away or
// a lock was lost. The handler takes that for the client's mistake: no repetition is told so.
func (d Database) checkFailuresByGoing(t *testing.T) {
	for name, inner := range map[string]bool{"the client goes away": false, "a lock is lost": true} {
		for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity} {
			s := d.open(t, idempotency.Config{})
			client, end := context.WithCancel(t.Context())
			locked := func(c *gin.Context) {
				before := c.Request
				ctx, lost := context.WithCancel(before.Context())
				defer lost()
				if inner {
					end = lost
				}
				c.Request = before.WithContext(ctx)
				c.Next()
				c.Request = before
			}
			s.gin.POST("/going", s.keys.Handle, locked, func(c *gin.Context) {
				o := &Order{Item: c.GetHeader(idempotency.Header)}
				err := s.db.WithContext(c.Request.Context()).Transaction(func(tx *gorm.DB) error {
					if err := tx.Create(o).Error; err != nil {
						return err
					}
					if c.GetHeader("X-Ends") != "" {
						end()
					}
					if err := tx.Find(&[]Order{}).Error; err != nil {
						return err
					}
					return idempotency.RecordJSON(tx, http.StatusCreated, o)
				})
				if err != nil {
					c.JSON(status, err.Error())
					return
				}
				c.JSON(http.StatusCreated, o)
			})
			k := key()
			r := httptest.NewRequestWithContext(client, http.MethodPost, "/going", nil)
			r.Header.Set(idempotency.Header, k)
			r.Header.Set("X-Ends", "yes")
			if a := s.serve(r); a.status != status {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			one := ask{path: "/going", key: k}
			s.send(one).is(t, http.StatusCreated, false, "")
			s.send(one).is(t, http.StatusCreated, true, "")
			if n := s.orders(t, k); n != 1 {
				t.Errorf("%s, %d: %d orders", name, status, n)
			}
			end()
		}
	}
}

// checkBodiesReadBefore checks that another body is another request, whoever has read it first, and
// that a body which nobody knows any more is no request at all.
func (d Database) checkBodiesReadBefore(t *testing.T) {
	asForm := func(amount string) (string, string) {
		return url.Values{"amount": {amount}}.Encode(), binding.MIMEPOSTForm
	}
	asJSON := func(amount string) (string, string) { return `{"amount":"` + amount + `"}`, binding.MIMEJSON }
	asParts := func(amount string) (string, string) {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		_ = w.SetBoundary("always-the-same")
		file, _ := w.CreateFormFile("amounts", "amounts.txt")
		_, _ = io.WriteString(file, amount)
		_ = w.Close()
		return body.String(), w.FormDataContentType()
	}
	for name, c := range map[string]struct {
		before gin.HandlerFunc
		body   func(amount string) (body, kind string)
		status int
	}{
		"nobody has":            {func(*gin.Context) {}, asJSON, http.StatusCreated},
		"gin keeps a copy":      {func(c *gin.Context) { _ = c.ShouldBindBodyWith(&struct{}{}, binding.JSON) }, asJSON, http.StatusCreated},
		"it is a form":          {func(c *gin.Context) { c.PostForm("amount") }, asForm, http.StatusCreated},
		"it is a form of parts": {func(c *gin.Context) { _, _ = c.MultipartForm() }, asParts, http.StatusCreated},
		"it is gone":            {func(c *gin.Context) { _, _ = io.Copy(io.Discard, c.Request.Body) }, asJSON, http.StatusInternalServerError},
	} {
		s := d.open(t, idempotency.Config{})
		s.gin.POST("/read-before", c.before, s.keys.Handle, func(gc *gin.Context) {
			o := &Order{Item: gc.GetHeader(idempotency.Header)}
			if err := s.db.WithContext(gc.Request.Context()).Create(o).Error; err != nil {
				t.Error(err)
			}
			gc.JSON(http.StatusCreated, o)
		})
		k := key()
		send := func(amount string) answer {
			body, kind := c.body(amount)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/read-before", strings.NewReader(body))
			r.Header.Set("Content-Type", kind)
			r.Header.Set(idempotency.Header, k)
			return s.serve(r)
		}
		if first := send("1"); first.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, first.status, first.body, c.status)
		}
		if c.status != http.StatusCreated {
			if n := s.orders(t, k); n != 0 {
				t.Errorf("%s: %d orders", name, n)
			}
			continue
		}
		if other := send("999"); other.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: another body: %d %s", name, other.status, other.body)
		}
		send("1").is(t, http.StatusCreated, true, "")
		if n := s.orders(t, k); n != 1 {
			t.Errorf("%s: %d orders", name, n)
		}
	}
}

// checkHandledTwice checks that a request does not wait for itself.
func (d Database) checkHandledTwice(t *testing.T) {
	s := d.open(t, idempotency.Config{Wait: idempotency.NoWait})
	handler := func(c *gin.Context) {
		o := &Order{Item: c.GetHeader(idempotency.Header)}
		if err := s.db.WithContext(c.Request.Context()).Create(o).Error; err != nil {
			t.Error(err)
		}
		c.JSON(http.StatusCreated, o)
	}
	s.gin.Group("/group", s.keys.Handle).POST("/twice", s.keys.Handle, handler)
	s.gin.POST("/again", s.keys.Handle, func(c *gin.Context) {
		c.Request.URL.Path = "/group/twice"
		s.gin.HandleContext(c)
	})
	for _, path := range []string{"/group/twice", "/again"} {
		k := key()
		one := ask{path: path, key: k}
		first, second := s.send(one), s.send(one)
		first.is(t, http.StatusCreated, false, "")
		second.is(t, http.StatusCreated, true, "")
		if second.body != first.body || first.body == "" {
			t.Errorf("%s: the answer was %q, and its repetition %q", path, first.body, second.body)
		}
		if n := s.orders(t, k); n != 1 {
			t.Errorf("%s: %d orders", path, n)
		}
	}
}

// checkHandleContext hands a request on, by gin's HandleContext, to a route that is not behind
// Handle. gin's context forgets the request then. Its answer is not seen, and a repetition must
// neither get an empty one nor do it again, by whichever context it was done.
func (d Database) checkHandleContext(t *testing.T) {
	s := d.open(t, idempotency.Config{Wait: idempotency.NoWait})
	for name, of := range map[string]func(c *gin.Context) context.Context{
		"the request's context": func(c *gin.Context) context.Context { return c.Request.Context() },
		"gin's own context":     func(c *gin.Context) context.Context { return c },
	} {
		for _, status := range []int{http.StatusCreated, http.StatusInternalServerError} {
			s.routes()
			s.gin.POST("/inner", func(c *gin.Context) {
				o := &Order{Item: c.GetHeader(idempotency.Header)}
				if err := s.db.WithContext(of(c)).Create(o).Error; err != nil {
					t.Error(err)
				}
				c.JSON(status, o)
			})
			s.gin.POST("/outer", s.keys.Handle, func(c *gin.Context) {
				c.Request.URL.Path = "/inner"
				s.gin.HandleContext(c)
			})
			k := key()
			one := ask{path: "/outer", key: k}
			s.send(one).is(t, status, false, "")
			s.send(one).is(t, http.StatusConflict, false, "idempotency-answer-lost")
			if n := s.orders(t, k); n != 1 {
				t.Errorf("%s, %d: %d orders", name, status, n)
			}
		}
	}
}

// checkUnrouted asks for what there is no route for, behind a Handle for all routes: gin answers
// after its handlers, so that the answer is not recorded.
func (d Database) checkUnrouted(t *testing.T) {
	s := d.open(t, idempotency.Config{Wait: idempotency.NoWait})
	s.gin.Use(s.keys.Handle)
	one := ask{path: "/nowhere", key: key()}
	for range 2 {
		got := s.send(one)
		got.is(t, http.StatusNotFound, false, "")
		if got.body == "" {
			t.Error("an empty answer")
		}
	}
}
