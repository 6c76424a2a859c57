package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// grants keeps the operation of each grant that the store was asked for.
type grants struct {
	pathlock.NopObserver
	operations []string
}

// Granted implements [pathlock.Observer].
func (g *grants) Granted(_ context.Context, e pathlock.Event) {
	if !e.Reentrant {
		g.operations = append(g.operations, e.Origin.Operation)
	}
}

// Locks that the plugin takes by itself name its operation. Work of a larger operation keeps that
// operation's name.
func TestOperation_namesTheLocksOfAWrite(t *testing.T) {
	type branch = gormplugintest.Branch
	seen := new(grants)
	plugin := gormplugin.New(pathlock.New(memstore.New(), pathlock.WithObserver(seen)), gormplugin.Model(&branch{}))
	db := databases.Use(t, gormlite.Open(databases.SQLiteFile(t, "&_txlock=immediate")), plugin)
	testerr.Must(t, gormplugin.AutoMigrate(db))
	a, b := &branch{TreeID: 1, Name: "a"}, &branch{TreeID: 1, Name: "b"}
	err := errors.Join(
		db.Create(a).Error, db.Create(b).Error, db.Model(a).Update("name", "c").Error, db.Model(a).Update("parent_id", b.ID).Error,
		db.Model(a).Updates(map[string]any{"parent_id": nil, "name": "d"}).Error,
	)
	_, copied := gormplugin.Copy(db, &branch{}, a.ID, gormplugin.Below(b.ID))
	ctx := pathlock.WithOrigin(t.Context(), pathlock.Origin{Operation: "import"})
	testerr.Must(t, errors.Join(err, copied, db.Delete(a).Error, db.WithContext(ctx).Create(&branch{TreeID: 1, Name: "h"}).Error))
	if got := fmt.Sprint(slices.Compact(seen.operations)); got != "[insert rename move update copy delete import]" {
		t.Errorf("the locks are of %s", got)
	}
}
