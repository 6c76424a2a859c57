package idempotencytest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Order is what each request makes one of.
type Order struct {
	ID   int64  `json:"id"`
	Item string `json:"item" gorm:"size:100"`
}

// shop is one instance of a service that serves requests, and consumes messages.
type shop struct {
	db   *gorm.DB
	keys *idempotency.Keys
	gin  *gin.Engine
	// messages are the keys of messages, on a DB that has no plugin.
	messages *idempotency.Keys
	pools    []*gorm.DB
	// at, unless nil, is called when a request comes to a step.
	at func(step string)

	mu    sync.Mutex
	wrong []string // what routes have found
}

// openShop opens an instance.
func openShop(dialector func(url string) gorm.Dialector, url string, config idempotency.Config) (*shop, error) {
	db, err := gorm.Open(dialector(url), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	plain, err := gorm.Open(dialector(url), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	s := &shop{db: db, pools: []*gorm.DB{db, plain}}
	if err := db.Use(gormplugin.New(pathlock.New(memstore.New()))); err != nil {
		return nil, err
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	config.Headers = []string{"set-cookie", "x-kept"} // the former is never kept
	if s.messages, err = idempotency.New(plain, config); err != nil {
		return nil, err
	}
	if config.Scope == nil {
		config.Scope = func(c *gin.Context) string { return c.GetHeader("X-User") }
	}
	if s.keys, err = idempotency.New(db, config); err != nil {
		return nil, err
	}
	s.routes()
	s.habits()
	// It runs between the note and the COMMIT of a message.
	recorded := func(db *gorm.DB) {
		if strings.Contains(db.Statement.SQL.String(), "state = 2") {
			s.step("recorded")
		}
	}
	return s, plain.Callback().Raw().After("gorm:raw").Register("idempotencytest:recorded", recorded)
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
		if err != nil {
			p := middleware.ProblemOf(err)
			if p == nil {
				p = middleware.NewProblem(http.StatusInternalServerError, "internal", err.Error())
			}
			middleware.WriteProblem(c, p)
		} else {
			c.Header("Location", "/orders/"+o.Item)
			c.Header("Set-Cookie", "secret=1")
			c.Header("X-Kept", "yes")
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
				if c.Query("large") != "" {
					o.Item = strings.Repeat("x", 2<<10)
				}
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
	s.gin.POST("/unscoped", s.messages.Handle)
}

// ask is what a client sends, or a message.
type ask struct {
	path, body, user string
	keys             []string
	method           string      // POST unless it says otherwise
	more             http.Header // further headers
}

// answer is what a client got.
type answer struct {
	status   int
	body     string
	header   http.Header
	replayed bool
}

// once is the path of a message.
const once = "once"

// send sends a request, or delivers a message.
func (s *shop) send(ctx context.Context, a ask) answer {
	if strings.HasPrefix(a.path, once) {
		return s.deliver(ctx, a)
	}
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	r := httptest.NewRequestWithContext(ctx, cmp.Or(a.method, http.MethodPost), a.path, strings.NewReader(a.body))
	for name, values := range a.more {
		r.Header[name] = values
	}
	r.Header["X-User"] = []string{a.user}
	if len(a.keys) > 0 {
		r.Header[idempotency.Header] = a.keys
	}
	w := httptest.NewRecorder()
	s.gin.ServeHTTP(hearing(w, r, hangUp), r)
	return answer{w.Code, w.Body.String(), w.Header(), w.Header().Get(idempotency.ReplayedHeader) == "true"}
}

// deliver delivers a message. Behind the path stands how the work fails, if it does.
func (s *shop) deliver(ctx context.Context, a ask) (got answer) {
	got = answer{status: http.StatusCreated, header: make(http.Header), replayed: true}
	defer func() {
		if recover() != nil {
			got.status = http.StatusInternalServerError
		}
	}()
	var made Order
	result, err := idempotency.Once(ctx, s.messages, idempotency.Key{Scope: a.user, ID: a.keys[0], Payload: []byte(a.body)}, func(tx *gorm.DB) (o Order, err error) {
		s.step("claimed")
		got.replayed = false
		if err := errors.Join(json.Unmarshal([]byte(a.body), &o), tx.Create(&o).Error); err != nil {
			return o, err
		}
		s.step("written")
		switch made = o; a.path {
		case once + "/panics":
			panic("asked to")
		case once + "/fails":
			return o, errors.New("no such product")
		case once + "/large":
			o.Item = strings.Repeat("x", 2<<10)
		}
		return o, nil
	})
	s.step("committed")
	text, _ := json.Marshal(result)
	got.body = string(text)
	switch {
	case errors.Is(err, idempotency.ErrInUse), errors.Is(err, idempotency.ErrTakenOver):
		got = answer{status: http.StatusConflict, body: problemOf("idempotency-key-in-use"), header: http.Header{"Retry-After": {"1"}}}
	case errors.Is(err, idempotency.ErrReused):
		got = answer{status: http.StatusUnprocessableEntity, body: problemOf("idempotency-key-reused"), header: make(http.Header)}
	case err != nil:
		got = answer{status: http.StatusInternalServerError, header: make(http.Header)}
	case !got.replayed && result != made:
		s.fail("the result is %+v, want %+v", result, made)
	}
	if err != nil && result != (Order{}) {
		s.fail("the result beside %v is %+v", err, result)
	}
	return got
}

func problemOf(slug string) string { return fmt.Sprintf(`{"type":%q}`, middleware.ProblemType+slug) }

// fail notes what a route has found.
func (s *shop) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}
