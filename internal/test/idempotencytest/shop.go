// Package idempotencytest checks that package idempotency keeps its promises on a database. Every
// database that gormplugin supports passes [Run].
package idempotencytest

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Order is what each request makes one of.
type Order struct {
	ID   int64  `json:"id"`
	Item string `json:"item" gorm:"size:100"`
}

// shop is one instance of a service.
type shop struct {
	db   *gorm.DB
	keys *idempotency.Keys
	gin  *gin.Engine
	// at, unless nil, is called when a request comes to a step.
	at func(step string)
}

// openShop opens an instance.
func openShop(dialector gorm.Dialector, config idempotency.Config) (s *shop, err error) {
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	s = &shop{db: db}
	if err := db.Use(gormplugin.New(pathlock.New(memstore.New()))); err != nil {
		return nil, err
	}
	if config.Scope == nil {
		config.Scope = func(c *gin.Context) string { return cmp.Or(c.GetHeader("X-User"), "anybody") }
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if s.keys, err = idempotency.New(db, config); err != nil {
		return nil, err
	}
	s.routes()
	return s, nil
}

// step calls at.
func (s *shop) step(name string) {
	if s.at != nil {
		s.at(name)
	}
}

// routes has a route for each way in which a handler can work.
func (s *shop) routes() {
	gin.SetMode(gin.ReleaseMode)
	s.gin = gin.New()
	s.gin.Use(gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, _ any) { c.AbortWithStatus(http.StatusInternalServerError) }))
	s.gin.Use(func(c *gin.Context) {
		c.Next()
		s.step("finished")
	})
	order := func(c *gin.Context) *Order {
		s.step("claimed")
		var o Order
		if err := json.NewDecoder(c.Request.Body).Decode(&o); err != nil {
			o.Item = "unreadable: " + err.Error()
		}
		return &o
	}
	done := func(c *gin.Context, o *Order, err error) {
		s.step("committed")
		switch {
		case err != nil:
			p := middleware.ProblemOf(err)
			if p == nil {
				p = middleware.NewProblem(http.StatusInternalServerError, "internal", err.Error())
			}
			middleware.WriteProblem(c, p)
		default:
			c.Header("Location", "/orders/"+o.Item)
			c.Header("Set-Cookie", "secret=1")
			c.JSON(http.StatusCreated, o)
		}
		s.step("answered")
	}
	make := func(recorded bool) gin.HandlerFunc {
		return func(c *gin.Context) {
			o := order(c)
			err := gormplugin.Transaction(c.Request.Context(), s.db, func(tx *gorm.DB) error {
				o.ID = 0
				if err := tx.Create(o).Error; err != nil {
					return err
				}
				s.step("written")
				if recorded {
					if err := idempotency.RecordJSON(tx, http.StatusCreated, o); err != nil {
						return err
					}
				}
				s.step("recorded")
				return nil
			})
			done(c, o, err)
		}
	}
	s.gin.Any("/recorded", s.keys.Handle, make(true))
	s.gin.POST("/plain", s.keys.Handle, make(false))
	s.gin.POST("/implicit", s.keys.Handle, func(c *gin.Context) {
		o := order(c)
		done(c, o, s.db.WithContext(c).Create(o).Error) // by gin's own context
	})
	s.gin.POST("/nothing", s.keys.Handle, func(c *gin.Context) { done(c, order(c), nil) })
	// It commits, or does not, and answers what it is asked to.
	s.gin.POST("/answer/:commits/:status", s.keys.Handle, func(c *gin.Context) {
		o := order(c)
		if c.Param("commits") == "yes" {
			if err := s.db.WithContext(c.Request.Context()).Create(o).Error; err != nil {
				_ = c.Error(err)
			}
		}
		if c.Param("status") == "panic" {
			panic("asked to")
		}
		var status int
		_ = json.Unmarshal([]byte(c.Param("status")), &status)
		c.String(status, "answer")
	})
	s.gin.POST("/large", s.keys.Handle, func(c *gin.Context) {
		for range 4 {
			_, _ = c.Writer.WriteString(strings.Repeat("x", 1<<10))
			c.Writer.Flush()
		}
	})
	s.gin.POST("/read", s.keys.Handle, func(c *gin.Context) {
		_ = s.db.WithContext(c.Request.Context()).Transaction(func(tx *gorm.DB) error { return tx.Find(&[]Order{}).Error }, &sql.TxOptions{})
		c.Status(http.StatusServiceUnavailable)
	})
}

// answer is what a client got.
type answer struct {
	status   int
	body     string
	header   http.Header
	replayed bool
}

// ask is what a client sends.
type ask struct{ path, key, user, body string }

// send sends a request with a key.
func (s *shop) send(a ask) answer {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, a.path, strings.NewReader(a.body))
	if a.key != "" {
		r.Header.Set(idempotency.Header, a.key)
	}
	r.Header.Set("X-User", a.user)
	return s.serve(r)
}

// request returns a request with a key, and without a body.
func request(t *testing.T, path, key string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)
	r.Header.Set(idempotency.Header, key)
	return r
}

// serve has the instance serve a request.
func (s *shop) serve(r *http.Request) answer {
	w := httptest.NewRecorder()
	s.gin.ServeHTTP(w, r)
	return answer{w.Code, w.Body.String(), w.Header(), w.Header().Get(idempotency.ReplayedHeader) == "true"}
}

// is checks an answer: its status, whether it was replayed, and the end of the problem's type.
func (a answer) is(t *testing.T, status int, replayed bool, problem string) {
	t.Helper()
	var p middleware.Problem
	_ = json.NewDecoder(bytes.NewReader([]byte(a.body))).Decode(&p)
	if a.status != status || a.replayed != replayed || problem != "" && p.Type != middleware.ProblemType+problem {
		t.Errorf("got %d %q, replayed: %v, want %d %s, %v", a.status, a.body, a.replayed, status, problem, replayed)
	}
}

// orders returns how many orders of an item there are.
func (s *shop) orders(t *testing.T, item string) int64 {
	t.Helper()
	var n int64
	testerr.Must(t, s.db.Model(&Order{}).Where("item = ?", item).Count(&n).Error)
	return n
}

// item is the body of a request for it.
func item(name string) string { return `{"item":"` + name + `"}` }
