package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// suites finds the suites of the examples in memory. A backend takes the resolver from package
// gormplugin.
var suites = pathlock.ResolverFunc(func(_ context.Context, id string) (pathlock.Location, error) {
	path, ok := map[string]string{"17": "/dir1/dir2", "18": "/dir1/dir3"}[id]
	if !ok {
		return pathlock.Location{}, fmt.Errorf("%w: suite %s", pathlock.ErrNotFound, id)
	}
	plan, err := pathlock.NewTree("testplan", "plan-001")
	return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath(path)}, err
})

// request sends a request, with headers in pairs, and prints the answer's status.
func request(r *gin.Engine, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	fmt.Println(method, target, w.Code)
	return w
}

func done(c *gin.Context) { c.Status(http.StatusNoContent) }

func Example() {
	locker := pathlock.New(memstore.New())
	locks := middleware.New(locker, suites, middleware.Config{})
	plan, _ := pathlock.NewTree("testplan", "plan-001")
	rename := func(c *gin.Context) {
		snapshot, err := locker.Snapshot(c.Request.Context(), plan)
		if err != nil {
			locks.Fail(c, err)
			return
		}
		fmt.Println(snapshot.Holders[0].Claims)
	}
	r := gin.New()
	r.PATCH("/suites/:id", locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), rename)

	request(r, "PATCH", "/suites/17", `{"name":"new"}`)
	request(r, "PATCH", "/suites/19", `{"name":"new"}`)
	// Output:
	// [IX / IX /dir1 X /dir1/dir2 X /dir1/new]
	// PATCH /suites/17 200
	// PATCH /suites/19 404
}

// An engine that serves several databases has a Locks for each, and chooses it as it chooses the
// database. The trees of each have a namespace of their own: see gormplugin.Namespace.
func ExampleNew_databases() {
	locker := pathlock.New(memstore.New())
	databases := make(map[string]*middleware.Locks) // by host
	for _, host := range []string{"a.example.com", "b.example.com"} {
		resolver := pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) {
			fmt.Println("looking in the database of", host)
			plan, err := pathlock.NewTree(host+"/testplan", "plan-001")
			return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath("/dir1")}, err
		})
		databases[host] = middleware.New(locker, resolver, middleware.Config{})
	}
	// lock is to all of them what Locks.Lock is to one.
	lock := func(spec lockspec.Spec) gin.HandlerFunc {
		handlers := make(map[string]gin.HandlerFunc)
		for host, locks := range databases {
			handlers[host] = locks.Lock(spec)
		}
		return func(c *gin.Context) {
			if handler, ok := handlers[c.Request.Host]; ok {
				handler(c)
				return
			}
			c.AbortWithStatus(http.StatusNotFound)
		}
	}
	r := gin.New()
	r.DELETE("/suites/:id", lock(lockspec.Delete(lockspec.Param("id")).Asserted()), done)

	request(r, "DELETE", "http://b.example.com/suites/17", "")
	request(r, "DELETE", "http://c.example.com/suites/17", "")
	// Output:
	// looking in the database of b.example.com
	// DELETE http://b.example.com/suites/17 204
	// DELETE http://c.example.com/suites/17 404
}

// One table annotates many routes. At start it is compared with the routes that the engine serves.
func ExampleLocks_Table() {
	id := lockspec.Param("id")
	table := lockspec.Table{
		"PATCH /suites/:id":   lockspec.Rename(id, lockspec.JSON("name")).Asserted(),
		"DELETE /suites/:id":  lockspec.Delete(id).Asserted(),
		"DELETE /recycle-bin": lockspec.None("touches no live path"),
	}
	locks := middleware.New(pathlock.New(memstore.New()), suites, middleware.Config{})

	r := gin.New()
	r.POST("/suites/:id/copy", done) // before the table's middleware, and not in the table
	r.Use(locks.Table(table))
	r.PATCH("/suites/:id", done)
	r.DELETE("/suites/:id", done)
	r.DELETE("/recycle-bin", done)
	fmt.Println(middleware.CheckRoutes(r, table))
	// Output:
	// lockspec: the route table is wrong:
	// 	POST /suites/:id/copy: has no spec; if it needs no lock, say so with None
}

// Authorize is asked before anything is locked, Redact decides what a refusal shows, and
// WriteProblem gives it the form that clients know.
func ExampleConfig() {
	locks := middleware.New(pathlock.New(memstore.New()), suites, middleware.Config{
		Token: middleware.NoToken, // requests never work under a hold of their own
		Authorize: func(c *gin.Context, nodes []lockspec.Node) error {
			if c.GetHeader("X-User") == "" {
				return middleware.NewProblem(http.StatusForbidden, "forbidden", "nobody may touch "+nodes[0].Path.String())
			}
			return nil
		},
		Redact: func(_ *gin.Context, p *middleware.Problem) {
			p.Detail = "not allowed"
		},
		WriteProblem: func(c *gin.Context, p *middleware.Problem) {
			c.JSON(p.Status, gin.H{"code": p.Slug(), "msg": p.Detail})
		},
	})
	r := gin.New()
	r.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), done)

	request(r, "DELETE", "/suites/17", "", "X-User", "anna")
	fmt.Println(request(r, "DELETE", "/suites/17", "").Body)
	// Output:
	// DELETE /suites/17 204
	// DELETE /suites/17 403
	// {"code":"forbidden","msg":"not allowed"}
}

// The codes of problems stay what they are, and each client reads the details in its own language.
func ExampleConfig_language() {
	chinese := map[pathlock.Failure]string{
		pathlock.FailureNotFound: "该目录不存在", pathlock.FailureNameTaken: "同级目录已有此名称", pathlock.FailureLocked: "其他人正在操作，请稍后重试",
	}
	locks := middleware.New(pathlock.New(memstore.New()), suites, middleware.Config{
		Redact: func(c *gin.Context, p *middleware.Problem) {
			if said, ok := chinese[pathlock.Failure(p.Slug())]; ok && c.GetHeader("Accept-Language") == "zh" {
				p.Detail = said
			}
		},
	})
	r := gin.New()
	r.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), done)

	fmt.Println(request(r, "DELETE", "/suites/19", "", "Accept-Language", "zh").Body)
	// Output:
	// DELETE /suites/19 404
	// {"type":"urn:pathlock:problem:not-found","title":"Not Found","status":404,"detail":"该目录不存在"}
}

// A program keeps its own words for what pathlock has no answer to.
func ExampleLocks_Fail_own() {
	locks := middleware.New(pathlock.New(memstore.New()), suites, middleware.Config{})
	r := gin.New()
	r.GET("/suites/:id", func(c *gin.Context) {
		_, err := suites.Resolve(c.Request.Context(), c.Param("id"))
		if err == nil {
			err = errors.New("the report server is down")
		}
		locks.Fail(c, err, func(c *gin.Context, _ error) { c.String(http.StatusInternalServerError, "no report today") })
	})

	fmt.Println(request(r, "GET", "/suites/17", "").Body)
	request(r, "GET", "/suites/19", "")
	// Output:
	// GET /suites/17 500
	// no report today
	// GET /suites/19 404
}

// Handlers answer their own errors as the middleware does. An unknown error is a 500 without
// detail, and is logged.
func ExampleLocks_Fail() {
	locks := middleware.New(pathlock.New(memstore.New()), suites, middleware.Config{})
	r := gin.New()
	r.GET("/suites/:id", func(c *gin.Context) {
		if _, err := suites.Resolve(c.Request.Context(), c.Param("id")); err != nil {
			locks.Fail(c, err)
		}
	})
	r.PUT("/suites/:id", func(c *gin.Context) {
		locks.Fail(c, middleware.NewRetryableProblem(http.StatusServiceUnavailable, "read-only", "the plan is being moved"))
	})

	fmt.Println(request(r, "GET", "/suites/19", "").Body)
	w := request(r, "PUT", "/suites/17", "")
	fmt.Println("Retry-After:", w.Header().Get("Retry-After"))
	// Output:
	// GET /suites/19 404
	// {"type":"urn:pathlock:problem:not-found","title":"Not Found","status":404,"detail":"not found: suite 19"}
	// PUT /suites/17 503
	// Retry-After: 1
}

// ProblemOf says what an error of pathlock's packages means to a client, and nil for any other. A
// backend without gin can answer with it.
func ExampleProblemOf() {
	refused := &pathlock.ConflictError{Path: pathlock.MustParsePath("/dir1"), Mode: pathlock.ModeX}
	p := middleware.ProblemOf(fmt.Errorf("rename: %w", refused))
	fmt.Println(p.Status, p.Slug(), p.Path, p.Mode, p.RetryAfter)
	fmt.Println(middleware.ProblemOf(context.Canceled) == nil)
	// Output:
	// 423 locked /dir1 X 1s
	// true
}

// Middleware of yours checks bodies before anything is locked, and leaves them unread.
func ExampleLocks_ReadJSON() {
	locks := middleware.New(pathlock.New(memstore.New()), suites, middleware.Config{})
	check := func(c *gin.Context) {
		body, err := locks.ReadJSON(c)
		if err == nil {
			_, err = lockspec.JSONValues(body, lockspec.JSON("name"))
		}
		if err != nil {
			locks.Fail(c, err)
		}
	}
	r := gin.New()
	r.PATCH("/suites/:id", check, locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), done)

	request(r, "PATCH", "/suites/17", `{"name":"new"}`)
	request(r, "PATCH", "/suites/17", `{"name":"new"`)
	request(r, "PATCH", "/suites/17", `name=new`, "Content-Type", "application/x-www-form-urlencoded")
	// Output:
	// PATCH /suites/17 204
	// PATCH /suites/17 400
	// PATCH /suites/17 415
}

// Each user has a home folder, and earlier middleware has found out who the user is.
func ExampleGinContext() {
	drive, _ := pathlock.NewTree("drive", "1")
	home := pathlock.ResolverFunc(func(_ context.Context, user string) (pathlock.Location, error) {
		fmt.Println("looking for the home of", user)
		return pathlock.Location{Tree: drive, Path: pathlock.MustParsePath("/home/" + user)}, nil
	})
	locks := middleware.New(pathlock.New(memstore.New()), home, middleware.Config{})
	authenticate := func(c *gin.Context) { c.Set("user", "anna") }
	user := lockspec.Func("user", func(r *http.Request, _ func(string) string) (string, bool, error) {
		name := middleware.GinContext(r.Context()).GetString("user")
		return name, name != "", nil
	})
	r := gin.New()
	r.POST("/uploads", authenticate, locks.Lock(lockspec.Insert(user, lockspec.JSON("name")).Asserted()), done)

	request(r, "POST", "/uploads", `{"name":"report"}`)
	// Output:
	// looking for the home of anna
	// POST /uploads 204
}
