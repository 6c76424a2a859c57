package idempotencytest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/idempotency"
)

// create makes an order named as the key, and answers with it.
func (s *shop) create(c *gin.Context) { s.createIn(c.Request.Context(), c) }

func (s *shop) createIn(ctx context.Context, c *gin.Context) {
	o := &Order{Item: c.GetHeader(idempotency.Header)}
	if err := s.db.WithContext(ctx).Create(o).Error; err != nil {
		c.String(http.StatusInternalServerError, "%v", err)
		return
	}
	c.JSON(http.StatusCreated, o)
}

// labelling is a writer that adds a header of its own with the first byte.
type labelling struct{ gin.ResponseWriter }

func (w labelling) Write(b []byte) (int, error) {
	w.Header().Set("Content-Encoding", "late")
	return w.ResponseWriter.Write(b)
}

// habits has routes with other middleware around Handle, and with handlers of peculiar habits.
func (s *shop) habits() {
	handle := s.keys.Handle
	// These answer what they are asked to, and commit something before that, or nothing.
	asked := func(c *gin.Context) {
		if c.Param("commits") == "yes" {
			if err := s.db.WithContext(c.Request.Context()).Create(&Order{Item: c.GetHeader(idempotency.Header)}).Error; err != nil {
				_ = c.Error(err)
			}
		}
	}
	s.gin.POST("/answer/:commits/:status", handle, asked, func(c *gin.Context) {
		if c.Param("status") == "panic" {
			panic("asked to")
		}
		var status int
		_ = json.Unmarshal([]byte(c.Param("status")), &status)
		c.String(status, "answer")
	})
	s.gin.POST("/cut/:commits/:pieces", handle, gin.RecoveryWithWriter(nil), asked, func(c *gin.Context) {
		for piece := range strings.SplitSeq(c.Param("pieces"), ",") {
			pieces[piece](c)
		}
	})
	s.gin.POST("/empty", handle, func(c *gin.Context) { c.Status(http.StatusNotFound) })
	s.gin.POST("/hijacked", handle, func(c *gin.Context) { _, _, _ = c.Writer.Hijack() })
	s.gin.POST("/large", handle, func(c *gin.Context) {
		for range 4 {
			_, _ = c.Writer.WriteString(strings.Repeat("x", 1<<10))
			c.Writer.Flush()
		}
	})
	s.gin.POST("/read", handle, func(c *gin.Context) {
		_ = s.db.WithContext(c.Request.Context()).Transaction(func(tx *gorm.DB) error { return tx.Find(&[]Order{}).Error }, &sql.TxOptions{})
		c.Status(http.StatusServiceUnavailable)
	})

	for name, encode := range map[string]gin.HandlerFunc{
		"before": func(c *gin.Context) { c.Header("Content-Encoding", "gzip") },
		"late":   func(c *gin.Context) { c.Writer = labelling{c.Writer} },
	} {
		s.gin.POST("/encoded/"+name, func(c *gin.Context) {
			if c.GetHeader("X-Fancy") != "" {
				encode(c)
			}
		}, handle, func(c *gin.Context) {
			c.Header("Content-Language", "en")
			c.JSON(http.StatusCreated, "text")
		})
	}

	failure := errors.New("no such product")
	for name, fail := range map[string]gin.HandlerFunc{
		"added":  func(c *gin.Context) { _ = c.Error(failure) },
		"status": func(c *gin.Context) { _ = c.AbortWithError(http.StatusNotFound, failure) },
		"both":   func(c *gin.Context) { c.Status(http.StatusUnprocessableEntity); _ = c.Error(failure) },
	} {
		s.gin.POST("/errors/"+name, func(c *gin.Context) {
			if c.Next(); len(c.Errors) > 0 {
				c.String(http.StatusBadGateway, c.Errors.Last().Error())
			}
		}, handle, func(c *gin.Context) {
			if c.GetHeader("X-Fancy") != "" {
				fail(c)
				return
			}
			s.create(c)
		})
	}

	// The context ends in the middle, since the client goes, or since a lock is lost.
	s.gin.POST("/going/:who", handle, func(c *gin.Context) {
		before := c.Request
		ctx, lost := context.WithCancel(before.Context())
		defer lost()
		o := &Order{Item: c.GetHeader(idempotency.Header)}
		c.Request = before.WithContext(ctx)
		err := s.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(o).Error; err != nil {
				return err
			}
			if hangUp(before.Context()); c.Param("who") == "lock" && c.GetHeader("X-Fancy") != "" {
				lost()
			}
			return idempotency.RecordJSON(tx, http.StatusCreated, o)
		})
		if err != nil {
			c.JSON(http.StatusUnprocessableEntity, "the client is to blame")
		} else {
			c.JSON(http.StatusCreated, o)
		}
		c.Request = before
	})

	s.gin.POST("/body/unread", handle, s.create)
	s.gin.POST("/body/copied", func(c *gin.Context) { _ = c.ShouldBindBodyWith(&struct{}{}, binding.JSON) }, handle, s.create)
	s.gin.POST("/body/gone", func(c *gin.Context) { _, _ = io.Copy(io.Discard, c.Request.Body) }, handle, s.create)

	s.gin.POST("/called", func(c *gin.Context) {
		if handle(c); !c.IsAborted() {
			s.create(c)
		}
	})
	s.gin.Group("/group", handle).POST("/twice", handle, s.create)
	s.gin.POST("/outer/:to", handle, func(c *gin.Context) {
		c.Request.URL.Path = "/inner/" + c.Param("to")
		s.gin.HandleContext(c)
	})
	s.gin.POST("/inner/handled", handle, s.create)
	s.gin.POST("/inner/request", s.create)
	s.gin.POST("/inner/gin", func(c *gin.Context) { s.createIn(c, c) })

	// Code that writes after the handler has its own request again, and is not part of the
	// handler's effects.
	s.gin.POST("/audited/:status", func(c *gin.Context) {
		outer, copied := c.Request, c.Copy()
		var reads sync.WaitGroup
		reads.Go(func() { _ = copied.Request.Method }) // as a goroutine that writes a log does
		defer reads.Wait()
		c.Next()
		if c.Request != outer || outer.Form.Get("added") != "yes" {
			s.fail("the outer request is not back, or lacks what was changed: %v", outer.Form)
		}
		if err := s.db.WithContext(c.Request.Context()).Create(&Order{Item: c.GetHeader(idempotency.Header)}).Error; err != nil {
			s.fail("the audit row: %v", err)
		}
	}, handle, func(c *gin.Context) {
		c.Request.Form = map[string][]string{"added": {"yes"}}
		var status int
		_ = json.Unmarshal([]byte(c.Param("status")), &status)
		c.String(status, "answer")
	})

	// gin gives its context to another request before the handler has returned, as it does where a
	// middleware further out does not wait for the handlers.
	s.gin.POST("/next", func(c *gin.Context) {
		if c.Next(); c.GetHeader("X-Fancy") != "" {
			if _, ok := c.Writer.(labelling); !ok || c.Request.URL.Path != "/another" {
				s.fail("the next request was changed: %v, %T", c.Request.URL, c.Writer)
			}
		}
	}, handle, func(c *gin.Context) {
		s.create(c)
		next := c.Request.Clone(context.Background())
		next.URL.Path = "/another"
		c.Request, c.Writer = next, labelling{c.Writer}
	})
}
