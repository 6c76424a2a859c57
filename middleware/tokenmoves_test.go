package middleware_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A hold goes along with the nodes that its holder moves, if they are moved. What it was on before
// stays with it, too.
func TestToken_holdGoesAlongWithMovedNodes(t *testing.T) {
	for _, tt := range []struct {
		what, hold            string
		method, target, body  string
		config                middleware.Config
		moved                 map[string]string // where nodes are when the handler is done, "" for nowhere
		held                  []string
		panics                bool
		othersAreKeptOutAfter string // of this node
	}{
		{what: "its node is renamed", hold: "/dir1/dir2", method: "PATCH", target: "/suites/3", body: `{"name":"new"}`,
			moved: map[string]string{"3": "/dir1/new"}, held: []string{"X /dir1/dir2", "X /dir1/new"}, othersAreKeptOutAfter: "3"},
		{what: "the rename fails", hold: "/dir1/dir2", method: "PATCH", target: "/suites/3", body: `{"name":"new"}`,
			held: []string{"X /dir1/dir2"}},
		{what: "the handler panics after the rename", hold: "/dir1/dir2", method: "PATCH", target: "/suites/3", body: `{"name":"new"}`,
			moved: map[string]string{"3": "/dir1/new"}, held: []string{"X /dir1/dir2", "X /dir1/new"}, panics: true, othersAreKeptOutAfter: "3"},
		{what: "the handler streams for too long after the rename", hold: "/dir1/dir2", method: "PATCH", target: "/suites/3", body: `{"name":"new"}`,
			config: middleware.Config{MaxHold: time.Millisecond},
			moved:  map[string]string{"3": "/dir1/new"}, held: []string{"X /dir1/dir2", "X /dir1/new"}, othersAreKeptOutAfter: "3"},
		{what: "the new name differs in letters alone", hold: "/dir1/dir2", method: "PATCH", target: "/suites/3", body: `{"name":"DIR2"}`,
			moved: map[string]string{"3": "/dir1/DIR2"}, held: []string{"X /dir1/dir2"}, othersAreKeptOutAfter: "3"},
		{what: "its node is moved", hold: "/dir1/dir2", method: "POST", target: "/suites/3/move", body: `{"target":{"parent_id":4}}`,
			moved: map[string]string{"3": "/other/dir2"}, held: []string{"X /dir1/dir2", "X /other/dir2"}, othersAreKeptOutAfter: "3"},
		{what: "a node above is renamed", hold: "/dir1/dir2", method: "PATCH", target: "/suites/2", body: `{"name":"up"}`,
			moved: map[string]string{"2": "/up", "3": "/up/dir2"}, held: []string{"X /dir1/dir2", "X /up/dir2"}, othersAreKeptOutAfter: "3"},
		{what: "a node beside is renamed", hold: "/dir1", method: "PATCH", target: "/suites/4", body: `{"name":"new"}`,
			moved: map[string]string{"4": "/new"}, held: []string{"X /dir1"}},
		{what: "its node is deleted", hold: "/dir1/dir2", method: "DELETE", target: "/suites/3",
			moved: map[string]string{"3": ""}, held: []string{"X /dir1/dir2"}},
	} {
		tt.config.Wait = pathlock.NoWait
		f := newFixture(t, memstore.New(), tt.config)
		mine := f.detached(plan, tt.hold)
		f.handler = func(c *gin.Context) {
			for id, path := range tt.moved {
				f.nodes.move(id, path)
			}
			if tt.config.MaxHold > 0 {
				<-c.Request.Context().Done()
			}
			if tt.panics {
				panic("after the commit")
			}
			c.Status(http.StatusNoContent)
		}
		want := http.StatusNoContent
		if tt.panics {
			want = http.StatusInternalServerError
		}
		f.is(tt.what, f.send(tt.method, tt.target, tt.body, token(mine)...), want, "")
		f.only(tt.what, tt.held...)
		if id := tt.othersAreKeptOutAfter; id != "" {
			f.handler = func(c *gin.Context) { c.Status(http.StatusNoContent) }
			others := f.send("DELETE", "/suites/"+id, "")
			f.is(tt.what+", others", others, http.StatusLocked, "locked")
			if holder := f.problem(others).Holder; holder == nil || holder.What != "anna edits" {
				t.Errorf("%s: others are told of %+v", tt.what, holder)
			}
			f.is(tt.what+", the holder", f.send("DELETE", "/suites/"+id, "", token(mine)...), http.StatusNoContent, "")
		}
		f.end(mine)
		f.nothingLeft()
	}
}

// It does so again and again.
func TestToken_holdGoesAlongAgainAndAgain(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait}, lockspec.Spec.Asserted)
	mine := f.detached(plan, "/dir1/dir2")
	for _, name := range []string{"new", "newer", "dir2"} {
		f.handler = func(c *gin.Context) {
			f.nodes.move("3", "/dir1/"+name)
			c.Status(http.StatusNoContent)
		}
		f.is(name, f.send("PATCH", "/suites/3", `{"name":"`+name+`"}`, token(mine)...), http.StatusNoContent, "")
		f.is(name+", others", f.send("DELETE", "/suites/3", ""), http.StatusLocked, "locked")
	}
	f.only("in the end", "X /dir1/dir2", "X /dir1/new", "X /dir1/newer")
}

// A new place that others hold is not to be had, and nothing changes.
func TestToken_holdGoesNotToWhereOthersAre(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	f.handler = f.mustNotServe
	mine := f.detached(plan, "/dir1/dir2")
	f.detached(plan, "/dir1/new")
	f.is("the rename", f.send("PATCH", "/suites/3", `{"name":"new"}`, token(mine)...), http.StatusLocked, "locked")
	f.only("afterwards", "X /dir1/dir2", "X /dir1/new")
	f.end(mine)
	f.only("without the hold", "X /dir1/new")
}
