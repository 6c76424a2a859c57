package readme

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// The id of a plan means the plan's tree on the page's route, also where a suite has the same id.
func TestTheTopIsThatOfThePlan(t *testing.T) {
	db, locker := open(t), pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, options()...)
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		t.Fatal(err)
	}
	suites := []Suite{{PlanID: 1, Name: "a"}, {PlanID: 1, Name: "b"}}
	if err := db.Create(&suites).Error; err != nil {
		t.Fatal(err)
	}
	var held string
	engine := gin.New()
	routeTops(engine, locker, plugin, func(c *gin.Context) {
		trees, err := locker.Trees(c)
		if err != nil || len(trees) != 1 {
			t.Errorf("locks in %v, %v", trees, err)
			return
		}
		snapshot, err := locker.Snapshot(c, trees[0])
		if err != nil || len(snapshot.Holders) != 1 {
			t.Errorf("the holders are %v, %v", snapshot.Holders, err)
			return
		}
		held = fmt.Sprint(trees[0], snapshot.Holders[0].Claims)
	})
	for _, c := range []struct{ target, body, held string }{
		{"/plans/2/suites", `{"name":"n"}`, "testplan/2 [IX / X /n]"},
		{"/plans/02/suites", `{"parent_id":null,"name":"n"}`, "testplan/2 [IX / X /n]"},
		{"/plans/1/suites", `{"parent_id":2,"name":"n"}`, "testplan/1 [IX / IX /b X /b/n]"},
	} {
		send(t, engine, "POST", c.target, c.body, http.StatusOK)
		if held != c.held {
			t.Errorf("%s %s: %s, want %s", c.target, c.body, held, c.held)
		}
	}
	send(t, engine, "POST", "/plans/first/suites", `{"name":"n"}`, http.StatusBadRequest)
}
