package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Suite is a directory of a test plan.
type Suite struct {
	ID       int64
	PlanID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name"`
	Path     string `pathlock:"path"`
}

// open opens an empty database with the tables that the examples need.
func open() (db *gorm.DB, keys *idempotency.Keys, drop func()) {
	dsn, dropDatabase, err := testserver.ScratchMySQL(context.Background())
	if err != nil {
		panic(err)
	}
	db, err = gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err == nil {
		err = db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{})))
	}
	if err == nil {
		err = gormplugin.AutoMigrate(db)
	}
	if err == nil {
		keys, err = idempotency.New(db, idempotency.Config{Scope: func(c *gin.Context) string { return c.GetHeader("X-User") }})
	}
	if err == nil {
		err = keys.Migrate(context.Background())
	}
	if err != nil {
		panic(err)
	}
	return db, keys, func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
		dropDatabase()
	}
}

// post sends a request with a key, and prints the answer.
func post(engine http.Handler, key, body string) {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/suites", strings.NewReader(body))
	r.Header.Set(idempotency.Header, key)
	r.Header.Set("X-User", "anna")
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	replayed := w.Header().Get(idempotency.ReplayedHeader) == "true"
	fmt.Printf("%d %s replayed: %v\n", w.Code, w.Body, replayed)
}

// The suite and the answer are committed together. The request that is sent again gets the answer,
// and makes no second suite.
func Example() {
	db, keys, drop := open()
	defer drop()

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.POST("/suites", keys.Handle, func(c *gin.Context) {
		suite := Suite{PlanID: 1}
		if err := c.ShouldBindJSON(&suite); err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		err := gormplugin.Transaction(c.Request.Context(), db, func(tx *gorm.DB) error {
			if err := tx.Create(&suite).Error; err != nil {
				return err
			}
			return idempotency.RecordJSON(tx, http.StatusCreated, suite.Path)
		})
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		c.JSON(http.StatusCreated, suite.Path)
	})

	post(r, "8e03978e-40d5-43e8", `{"Name":"login"}`)
	post(r, "8e03978e-40d5-43e8", `{"Name":"login"}`)
	var suites int64
	fmt.Println(db.Model(&Suite{}).Count(&suites).Error, suites)
	// Output:
	// 201 "/login" replayed: false
	// 201 "/login" replayed: true
	// <nil> 1
}

// An answer that is no JSON, in the transaction of its effect.
func ExampleRecord() {
	db, keys, drop := open()
	defer drop()

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.POST("/suites", keys.Handle, func(c *gin.Context) {
		err := db.WithContext(c.Request.Context()).Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&Suite{PlanID: 1, Name: "login"}).Error; err != nil {
				return err
			}
			return idempotency.Record(tx, idempotency.Answer{
				Status: http.StatusSeeOther,
				Header: http.Header{"Location": {"/suites/login"}},
			})
		})
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		c.Redirect(http.StatusSeeOther, "/suites/login")
	})
	post(r, "k1", "")
	post(r, "k1", "")
	// Output:
	// 303  replayed: false
	// 303  replayed: true
}

// A program makes the table when it starts, or checks that its migrations have. A job deletes old
// keys, on any number of instances.
func ExampleKeys_Purge() {
	_, keys, drop := open()
	defer drop()

	ctx := context.Background()
	if err := errors.Join(keys.Migrate(ctx), keys.Check(ctx)); err != nil {
		fmt.Println(err)
		return
	}
	rows, err := keys.Purge(ctx)
	fmt.Println(rows, err)
	// Output: 0 <nil>
}

// A message is delivered twice. The suite and the result are committed together, once.
func ExampleOnce() {
	db, keys, drop := open()
	defer drop()

	consume := func(id, name string) (path string, err error) {
		key := idempotency.Key{Scope: "imports: suites", ID: id, Payload: []byte(name)}
		return idempotency.Once(context.Background(), keys, key, func(tx *gorm.DB) (string, error) {
			suite := Suite{PlanID: 1, Name: name}
			err := tx.Create(&suite).Error
			return suite.Path, err
		})
	}
	fmt.Println(consume("message-1", "login"))
	fmt.Println(consume("message-1", "login"))
	fmt.Println(consume("message-1", "logout"))
	var suites int64
	fmt.Println(db.Model(&Suite{}).Count(&suites).Error, suites)
	// Output:
	// /login <nil>
	// /login <nil>
	//  idempotency: the key was used for something else
	// <nil> 1
}

// The table for a migration of your own.
func ExampleSchema() {
	sql, err := idempotency.Schema("postgres", "idempotency_keys")
	fmt.Println(strings.SplitN(sql, "\n", 3)[0], err)
	// Output: CREATE TABLE IF NOT EXISTS idempotency_keys ( <nil>
}

// The audit is in a database of its own, which the table of keys is not in. A repetition may write
// a second line there.
func ExampleAtLeastOnce() {
	db, keys, drop := open()
	defer drop()
	audit, _, dropAudit := open()
	defer dropAudit()
	root := Suite{PlanID: 1}
	if err := db.Create(&root).Error; err != nil {
		panic(err)
	}
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.POST("/suites", keys.Handle, func(c *gin.Context) {
		ctx := c.Request.Context()
		err := audit.WithContext(idempotency.AtLeastOnce(ctx)).Create(&Suite{PlanID: 1}).Error
		if err == nil {
			err = db.WithContext(ctx).Create(&Suite{PlanID: 1, ParentID: &root.ID, Name: "a"}).Error
		}
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		c.String(http.StatusCreated, "a suite, and a line of the audit")
	})
	post(engine, "key-1", "{}")
	post(engine, "key-1", "{}")
	// Output:
	// 201 a suite, and a line of the audit replayed: false
	// 201 a suite, and a line of the audit replayed: true
}
