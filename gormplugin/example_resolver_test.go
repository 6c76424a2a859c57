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

// A resolver finds rows by the text of their keys, as requests have them.
func ExamplePlugin_Resolver() {
	ctx := context.Background()
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{}))
	db, drop := openPlanWith(plugin, "/api/login")
	defer drop()

	suites := plugin.Resolver(&Suite{})
	at, err := suites.Resolve(ctx, fmt.Sprint(suiteAt(db, "/api/login").ID))
	fmt.Println(at.Tree, at.Path, err)

	_, err = suites.Resolve(ctx, "seven")
	fmt.Println(errors.Is(err, pathlock.ErrInvalidID))
	// Output:
	// suites/1 /api/login <nil>
	// true
}

// Requests name a folder by an alias, or by a path in the tree of whoever is signed in.
func ExamplePlugin_ResolverBy() {
	type Folder struct {
		ID       int64
		UserID   int64  `pathlock:"tree"`
		ParentID *int64 `pathlock:"parent"`
		Name     string `pathlock:"name"`
		Path     string `pathlock:"path"`
		Alias    string `gorm:"size:16"`
	}
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, gormplugin.Model(&Folder{}))
	locks := middleware.New(locker, plugin.ResolverBy(&Folder{}, "alias"), middleware.Config{
		Resolvers: map[string]pathlock.Resolver{
			"dir": plugin.ResolverBy(&Folder{}, "path", func(ctx context.Context) (any, error) {
				return middleware.GinContext(ctx).GetInt64("user"), nil
			}),
		},
	})
	db, drop := open(plugin) // AutoMigrate makes the unique index of the aliases
	defer drop()
	fmt.Println(db.Create(&Folder{UserID: 7, Name: "photos", Alias: "x1"}).Error)

	r := gin.New()
	r.Use(func(c *gin.Context) { c.Set("user", int64(7)) }) // authenticates
	show := func(c *gin.Context) {
		tree, _ := pathlock.NewTree("folders", "7")
		held, _ := locker.Snapshot(c, tree)
		c.String(http.StatusOK, "%v", held.Holders[0].Claims)
	}
	r.DELETE("/folders/:alias", locks.Lock(lockspec.Delete(lockspec.Param("alias"))), show)
	r.POST("/folders", locks.Lock(lockspec.Insert(lockspec.JSON("dir").Path("dir"), lockspec.JSON("name"))), show)
	for _, request := range [][3]string{
		{"DELETE", "/folders/x1", ""},
		{"POST", "/folders", `{"dir": "photos/", "name": "june"}`},
		{"POST", "/folders", `{"dir": "", "name": "music"}`},
		{"POST", "/folders", `{"dir": "videos/", "name": "june"}`},
	} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), request[0], request[1], strings.NewReader(request[2])))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// <nil>
	// 200 [IX / X /photos]
	// 200 [IX / IX /photos X /photos/june]
	// 200 [IX / X /music]
	// 404 {"type":"urn:pathlock:problem:not-found","title":"Not Found","status":404,"detail":"not found"}
}
