package integration

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// ofIDs has id paths alone, under names of its own.
type ofIDs struct {
	Code    string `gorm:"primaryKey;size:36"`
	Forest  string `pathlock:"tree" gorm:"size:36"`
	Above   *string
	Ids     string `pathlock:"idpath" gorm:"size:500;column:way"`
	Changes int64  `pathlock:"version"`
}

func TestDescribe(t *testing.T) {
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(byFlagAndTime{}), gormplugin.Model(gormplugintest.Typed{}),
		gormplugin.Model(ofIDs{}, gormplugin.Columns{Parent: "Above", IDPathForm: "/0/*/*/"}, gormplugin.Namespace("forests")),
		gormplugin.Model(gormplugintest.Sprig{}, gormplugin.SingleTree("all")), gormplugin.Leaf(gormplugintest.Bud{}, gormplugintest.Sprig{}))
	db := guardedBy(t, databases.SQLiteWith(t, ""), plugin, gormplugintest.Sprig{}, gormplugintest.Bud{})
	for _, tt := range []struct {
		model any
		want  fsck.Table
	}{
		{&byFlagAndTime{}, fsck.Table{
			Table: "by_flag_and_times", Key: "id", Tree: "tree", Parent: "parent", Name: "name", Path: "path", Namespace: "by_flag_and_times", Deleted: "is_deleted",
		}},
		{gormplugintest.Typed{}, fsck.Table{
			Table: "typed", Key: "id", Tree: "tree_id", Parent: "parent_id", Name: "name", Path: "path", Namespace: "typed", Deleted: "status", DeletedWhen: "archived",
		}},
		{ofIDs{}, fsck.Table{Table: "of_ids", Key: "code", Tree: "forest", Parent: "above", IDPath: "way", IDPathForm: "/0/*/*/", Version: "changes", Namespace: "forests"}},
		{gormplugintest.Sprig{}, fsck.Table{
			Table: "sprigs", Key: "id", SingleTree: "all", Parent: "parent_id", ParentTop: "-1", Name: "name", Path: "under", PathForm: "parent:*/*", Depth: "level", DepthTop: "0", Namespace: "sprigs",
			Leaves: []fsck.Table{{Table: "buds", Key: "id", Parent: "sprig_id", Name: "name", Path: "under", PathForm: "parent:*/*"}},
		}},
	} {
		if got, err := gormplugin.Describe(db, tt.model); !reflect.DeepEqual(got, tt.want) || err != nil {
			t.Errorf("%T: %+v (%v), want %+v", tt.model, got, err, tt.want)
		}
	}
	pool, err := db.DB()
	testerr.Must(t, err)
	leaf, err := gormplugin.Describe(db, gormplugintest.Bud{})
	testerr.Must(t, err)
	testerr.Is(t, "a leaf", testerr.Of(fsck.New(t.Context(), pool, fsck.SQLite, leaf)), fsck.ErrTable)
	table, err := gormplugin.Describe(db.Session(&gorm.Session{NewDB: true}), gormplugintest.Sprig{})
	testerr.Must(t, err)
	testerr.None(t, testerr.Of(fsck.New(t.Context(), pool, fsck.SQLite, table)))
}

// A role that sees some rows only would take the parents of others for missing.
func TestFsckUnderRowLevelSecurity(t *testing.T) {
	database := databases.Postgres(t, databases.ByteOrder, nil)
	pool := sql.OpenDB(database.Connector)
	pool.SetMaxOpenConns(1) // whose role the statements set
	t.Cleanup(func() { _ = pool.Close() })
	run := func(ctx context.Context, statements ...string) {
		for _, statement := range statements {
			testerr.Is(t, statement, testerr.Of(pool.ExecContext(ctx, statement)), nil)
		}
	}
	role := fmt.Sprintf("pathlock_fsck_%d", rand.Uint64())
	run(t.Context(),
		"CREATE TABLE nodes (id BIGINT PRIMARY KEY, tree_id BIGINT, parent_id BIGINT, name TEXT, path TEXT, owner TEXT)",
		"INSERT INTO nodes VALUES (1, 1, NULL, 'a', '/a', 'somebody else'), (2, 1, 1, 'b', '/a/b', '"+role+"')",
		"CREATE ROLE "+role, "GRANT ALL ON nodes TO "+role,
		"ALTER TABLE nodes ENABLE ROW LEVEL SECURITY", "CREATE POLICY own_rows ON nodes USING (owner = CURRENT_USER)",
	)
	t.Cleanup(func() { run(context.Background(), "RESET ROLE", "DROP TABLE nodes", "DROP ROLE "+role) })
	table := fsck.Table{Table: "nodes", Key: "id", Tree: "tree_id", Parent: "parent_id", Name: "name", Path: "path"}
	testerr.Is(t, "the table's owner", testerr.Of(fsck.New(t.Context(), pool, fsck.PostgreSQL, table)), nil)
	run(t.Context(), "SET ROLE "+role)
	testerr.Is(t, "a role that sees some rows", testerr.Of(fsck.New(t.Context(), pool, fsck.PostgreSQL, table)), fsck.ErrTable)
}
