package idempotencytest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// labelling is a writer that adds a header of its own with the first byte.
type labelling struct{ gin.ResponseWriter }

func (w labelling) Write(b []byte) (int, error) {
	w.Header().Set("Content-Encoding", "identity-late")
	return w.ResponseWriter.Write(b)
}

// checkHeadersOfOthers checks that what a middleware further out has set for the first request is
// not part of the answer: a repetition that it does not compress is not labelled as compressed.
func (d Database) checkHeadersOfOthers(t *testing.T) {
	for name, encode := range map[string]gin.HandlerFunc{
		"before the handler":  func(c *gin.Context) { c.Header("Content-Encoding", "gzip") },
		"with the first byte": func(c *gin.Context) { c.Writer = labelling{c.Writer} },
	} {
		s := d.open(t, idempotency.Config{})
		outer := func(c *gin.Context) {
			if c.GetHeader("Accept-Encoding") != "" {
				encode(c)
			}
		}
		s.gin.POST("/encoded", outer, s.keys.Handle, func(c *gin.Context) {
			c.Header("Content-Language", "en")
			c.JSON(http.StatusCreated, "text")
		})
		k := key()
		for _, accept := range []string{"gzip", "", "gzip"} {
			r := request(t, "/encoded", k)
			if accept != "" {
				r.Header.Set("Accept-Encoding", accept)
			}
			a := s.serve(r)
			if encoded := a.header.Get("Content-Encoding") != ""; a.status != http.StatusCreated || encoded != (accept != "") || a.header.Get("Content-Language") != "en" {
				t.Errorf("%s: accepting %q: %d with %v", name, accept, a.status, a.header)
			}
		}
	}
}

// checkAnswersOfOthers checks that an error of which a middleware further out makes an answer is
// not recorded as the empty answer that the handler has left.
func (d Database) checkAnswersOfOthers(t *testing.T) {
	failure := errors.New("no such product")
	for name, fail := range map[string]gin.HandlerFunc{
		"an error that is added": func(c *gin.Context) { _ = c.Error(failure) },
		"an error with a status": func(c *gin.Context) { _ = c.AbortWithError(http.StatusNotFound, failure) },
		"an error, and a status": func(c *gin.Context) { c.Status(http.StatusUnprocessableEntity); _ = c.Error(failure) },
	} {
		s := d.open(t, idempotency.Config{})
		broken := true
		s.gin.POST("/errors", func(c *gin.Context) {
			c.Next()
			if len(c.Errors) > 0 {
				c.String(http.StatusBadGateway, c.Errors.String())
			}
		}, s.keys.Handle, func(c *gin.Context) {
			if broken {
				fail(c)
				return
			}
			s.create(c)
		})
		one := ask{path: "/errors", key: key()}
		for range 2 {
			if a := s.send(one); a.status < http.StatusBadRequest || a.replayed || !strings.Contains(a.body, failure.Error()) {
				t.Errorf("%s: %d %q, replayed: %v", name, a.status, a.body, a.replayed)
			}
		}
		broken = false
		s.send(one).is(t, http.StatusCreated, false, "")
		s.send(one).is(t, http.StatusCreated, true, "")
		s.expectOrders(t, one.key, 1)
	}
}

// checkFailuresByGoing has a request fail because its context has ended, as the client went away or
// a lock was lost. The handler takes that for the client's mistake: no repetition is told so.
func (d Database) checkFailuresByGoing(t *testing.T) {
	for name, lockIsLost := range map[string]bool{"the client goes away": false, "a lock is lost": true} {
		s := d.open(t, idempotency.Config{})
		client, end := context.WithCancel(t.Context())
		locked := func(c *gin.Context) {
			before := c.Request
			ctx, lost := context.WithCancel(before.Context())
			defer lost()
			if lockIsLost {
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
				return idempotency.RecordJSON(tx, http.StatusCreated, o)
			})
			if err != nil {
				c.JSON(http.StatusUnprocessableEntity, err.Error())
				return
			}
			c.JSON(http.StatusCreated, o)
		})
		one := ask{path: "/going", key: key()}
		r := request(t, one.path, one.key).WithContext(client)
		r.Header.Set("X-Ends", "yes")
		if a := s.serve(r); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		s.send(one).is(t, http.StatusCreated, false, "")
		s.send(one).is(t, http.StatusCreated, true, "")
		s.expectOrders(t, one.key, 1)
		end()
	}
}

// checkBodiesReadBefore checks that another body is another request, whoever has read it first, and
// that a body which nobody knows any more is no request at all.
func (d Database) checkBodiesReadBefore(t *testing.T) {
	for name, c := range map[string]struct {
		before gin.HandlerFunc
		known  bool
	}{
		"nobody has":       {func(*gin.Context) {}, true},
		"gin keeps a copy": {func(c *gin.Context) { _ = c.ShouldBindBodyWith(&struct{}{}, binding.JSON) }, true},
		"it is gone":       {func(c *gin.Context) { _, _ = io.Copy(io.Discard, c.Request.Body) }, false},
	} {
		s := d.open(t, idempotency.Config{})
		s.gin.POST("/read-before", c.before, s.keys.Handle, s.create)
		k := key()
		first := s.send(ask{path: "/read-before", key: k, body: `{"amount":"1"}`})
		if !c.known {
			first.is(t, http.StatusInternalServerError, false, "internal")
			s.expectOrders(t, k, 0)
			continue
		}
		first.is(t, http.StatusCreated, false, "")
		if other := s.send(ask{path: "/read-before", key: k, body: `{"amount":"999"}`}); other.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: another body: %d %s", name, other.status, other.body)
		}
		s.send(ask{path: "/read-before", key: k, body: `{"amount":"1"}`}).is(t, http.StatusCreated, true, "")
		s.expectOrders(t, k, 1)
	}
}

// checkSlowBodies checks that a client which does not send its body to the end is answered in time,
// that its key stays free, and that the bound is one of the body alone.
func (d Database) checkSlowBodies(t *testing.T) {
	const bound = 100 * time.Millisecond
	s := d.open(t, idempotency.Config{BodyTimeout: bound})
	server := httptest.NewServer(s.gin)
	defer server.Close()
	k := key()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	testerr.Must(t, err)
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "POST /plain HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n{", idempotency.Header, k, len(item(k))); err != nil {
		t.Fatal(err)
	}
	late, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || late.StatusCode != http.StatusRequestTimeout || !late.Close {
		t.Fatalf("%+v, %v; want 408, and the end of the connection", late, err)
	}
	defer func() { _ = late.Body.Close() }()
	s.at = func(step string) {
		if step == "claimed" {
			time.Sleep(2 * bound) // the deadline of the body has passed
		}
	}
	for _, replayed := range []string{"", "true"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/plain", strings.NewReader(item(k)))
		testerr.Must(t, err)
		r.Header.Set(idempotency.Header, k)
		whole, err := server.Client().Do(r)
		testerr.Must(t, err)
		if whole.StatusCode != http.StatusCreated || whole.Header.Get(idempotency.ReplayedHeader) != replayed {
			t.Errorf("%d, replayed: %s", whole.StatusCode, whole.Header.Get(idempotency.ReplayedHeader))
		}
		_ = whole.Body.Close()
	}
	s.expectOrders(t, k, 1)
}

// checkHandledTwice checks that a request does not wait for itself.
func (d Database) checkHandledTwice(t *testing.T) {
	s := d.open(t, idempotency.Config{Wait: pathlock.NoWait})
	s.gin.Group("/group", s.keys.Handle).POST("/twice", s.keys.Handle, s.create)
	one := ask{path: "/group/twice", key: key()}
	first, second := s.send(one), s.send(one)
	first.is(t, http.StatusCreated, false, "")
	second.is(t, http.StatusCreated, true, "")
	if second.body != first.body || first.body == "" {
		t.Errorf("the answer was %q, and its repetition %q", first.body, second.body)
	}
	s.expectOrders(t, one.key, 1)
}

// checkHandleContext hands a request on, by gin's HandleContext, to a route behind Handle or not.
// gin's context forgets the request then. Its answer is not seen, and a repetition must neither get
// an empty one nor do it again, by whichever context it was done.
func (d Database) checkHandleContext(t *testing.T) {
	s := d.open(t, idempotency.Config{Wait: pathlock.NoWait})
	s.gin.POST("/outer/:to", s.keys.Handle, func(c *gin.Context) {
		c.Request.URL.Path = "/inner/" + c.Param("to")
		s.gin.HandleContext(c)
	})
	s.gin.POST("/inner/handled", s.keys.Handle, s.create)
	s.gin.POST("/inner/request", s.create)
	s.gin.POST("/inner/gin", func(c *gin.Context) {
		testerr.None(t, s.db.WithContext(c).Create(&Order{Item: c.GetHeader(idempotency.Header)}).Error)
		c.String(http.StatusCreated, "made")
	})
	for _, to := range []string{"handled", "request", "gin"} {
		one := ask{path: "/outer/" + to, key: key()}
		s.send(one).is(t, http.StatusCreated, false, "")
		s.send(one).is(t, http.StatusConflict, false, "idempotency-answer-lost")
		s.expectOrders(t, one.key, 1)
	}
}

// checkOuterRequest checks that middleware further out has its own request again after the handler:
// what it writes then is none of the request's effects, and stays whatever was answered.
func (d Database) checkOuterRequest(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	var status int
	s.gin.POST("/audited", func(c *gin.Context) {
		outer := c.Request
		c.Next()
		if c.Request != outer || outer.Form.Get("added") != "yes" {
			t.Errorf("%d: the outer request is not back, or lacks what was changed: %v", status, outer.Form)
		}
		if err := s.db.WithContext(c.Request.Context()).Create(&Order{Item: c.GetHeader(idempotency.Header)}).Error; err != nil {
			t.Errorf("%d: the audit row: %v", status, err)
		}
	}, s.keys.Handle, func(c *gin.Context) {
		c.Request.Form = map[string][]string{"added": {"yes"}}
		c.String(status, "answer")
	})
	for _, status = range []int{http.StatusCreated, http.StatusForbidden, http.StatusInternalServerError} {
		k := key()
		s.send(ask{path: "/audited", key: k}).is(t, status, false, "")
		s.expectOrders(t, k, 1)
	}
}

// checkNextRequest has gin give its context to another request before the handler has returned, as
// it does where a middleware further out does not wait for the handlers.
func (d Database) checkNextRequest(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	k, next := key(), request(t, "/next", key())
	var gins *gin.Context
	var writer gin.ResponseWriter
	s.gin.POST("/first", func(c *gin.Context) { gins = c }, s.keys.Handle, func(c *gin.Context) {
		s.create(c)
		writer = labelling{c.Writer}
		c.Request, c.Writer = next, writer
	})
	s.send(ask{path: "/first", key: k}).is(t, http.StatusCreated, false, "")
	if gins.Request != next || gins.Writer != writer {
		t.Errorf("the next request was changed: %v, %T", gins.Request.URL, gins.Writer)
	}
	s.send(ask{path: "/first", key: k}).is(t, http.StatusCreated, true, "")
	s.expectOrders(t, k, 1)
}
