package gormplugin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// One locker serves the middleware and the plugin, so that a write takes no lock which its request
// holds already. The plugin finds the rows that requests name, and says what errors of the database
// mean.
func ExampleNew() {
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, gormplugin.Model(&Suite{}))
	db, drop := openPlanWith(plugin, "/api/login") // calls db.Use(plugin)
	defer drop()

	locks := middleware.New(locker, plugin.Resolver(&Suite{}), middleware.Config{})
	r := gin.New()
	r.PATCH("/suites/:id", locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name")).Asserted()), func(c *gin.Context) {
		var body struct{ Name string }
		if err := c.ShouldBindJSON(&body); err != nil {
			locks.Fail(c, err)
			return
		}
		var renamed Suite
		if err := gormplugin.Rename(db.WithContext(c.Request.Context()), &renamed, c.Param("id"), body.Name); err != nil {
			locks.Fail(c, err)
			return
		}
		c.String(http.StatusOK, renamed.Path)
	})

	for _, id := range []string{"2", "404"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPatch, "/suites/"+id,
			strings.NewReader(`{"name": "sign-in"}`)))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 /api/sign-in
	// 404 {"type":"urn:pathlock:problem:not-found","title":"Not Found","status":404,"detail":"not found"}
}

// A model without tags: its columns are named by field.
func ExampleColumns() {
	type Page struct {
		ID     int64
		Site   int64
		Above  *int64
		Title  string
		Route  string
		Author string
	}
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Page{},
		gormplugin.Columns{Tree: "Site", Parent: "Above", Name: "Title", Path: "Route"}))
	db, drop := open(plugin)
	defer drop()

	home := &Page{Site: 1, Title: "docs", Author: "anna"}
	fmt.Println(db.Create(home).Error, home.Route)
	start := &Page{Above: &home.ID, Title: "start", Author: "ben"}
	fmt.Println(db.Create(start).Error, start.Route)
	// Output:
	// <nil> /docs
	// <nil> /docs/start
}

// A leaf has a name below a row of the model above. It may have a path column, here with the path
// of that row. A field that is no column gets the leaf's path.
func ExampleLeaf() {
	type Photo struct {
		ID          int64
		DirectoryID int64  `pathlock:"parent"`
		Name        string `pathlock:"name"`
		Directory   string `pathlock:"path,form:parent:/*/*" gorm:"column:directory_path"`
		Path        string `pathlock:"path" gorm:"-"`
	}
	plugin := gormplugin.New(pathlock.New(memstore.New()),
		gormplugin.Model(&Directory{}),
		gormplugin.Leaf(&Photo{}, &Directory{}))
	db, drop := open(plugin)
	defer drop()

	june := &Directory{DriveID: 1, Name: "june"}
	fmt.Println(db.Create(june).Error, june.Path)
	beach := &Photo{DirectoryID: june.ID, Name: "beach.jpg"}
	fmt.Println(db.Create(beach).Error, beach.Path, beach.Directory)
	fmt.Println(gormplugin.Rename(db, june, june.ID, "july"))
	fmt.Println(db.Take(beach).Error, beach.Directory)
	// Output:
	// <nil> /june
	// <nil> /june/beach.jpg /june
	// <nil>
	// <nil> /july
}

// A write that would put its row, or one below it, too deep is refused.
func ExampleMaxDepth() {
	plugin := gormplugin.New(pathlock.New(memstore.New()),
		gormplugin.Model(&Suite{}, gormplugin.MaxDepth(3)))
	db, drop := openPlanWith(plugin, "/api/login", "/web/forms")
	defer drop()

	err := gormplugin.Move(db, &Suite{}, suiteAt(db, "/api").ID, gormplugin.Below(suiteAt(db, "/web/forms").ID))
	var deep *gormplugin.TooDeepError
	if errors.As(err, &deep) {
		fmt.Println(deep.Depth, "names, and", deep.Limit, "are allowed")
	}
	// Output: 4 names, and 3 are allowed
}
