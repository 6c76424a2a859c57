package otherplugins

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	gormadapter "github.com/casbin/gorm-adapter/v3"
	"github.com/go-gormigrate/gormigrate/v2"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"gorm.io/driver/mysql"
	"gorm.io/gen"
	"gorm.io/gen/field"
	"gorm.io/gorm"
	"gorm.io/plugin/opentelemetry/tracing"
	"gorm.io/plugin/optimisticlock"
	"gorm.io/plugin/soft_delete"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Suite has the fields of optimisticlock and soft_delete, which are types and need no registration.
type Suite struct {
	ID       int64
	PlanID   int64                  `pathlock:"tree" gorm:"uniqueIndex:sibling"`
	ParentID *int64                 `pathlock:"parent" gorm:"uniqueIndex:sibling"`
	Name     string                 `pathlock:"name" gorm:"size:100;uniqueIndex:sibling"`
	Path     string                 `pathlock:"path" gorm:"size:500"`
	Version  optimisticlock.Version `pathlock:"version"`
	Deleted  soft_delete.DeletedAt  `gorm:"default:0;uniqueIndex:sibling"`
}

// others are what programs register with a DB, or make of it. Each returns its work, which finds
// the rows /z and /z/b, and knows whether the plugin was registered first.
var others = map[string]func(t *testing.T, db *gorm.DB) (work func(first bool)){
	"field types": func(*testing.T, *gorm.DB) func(bool) { return func(bool) {} },
	"gormigrate": func(t *testing.T, db *gorm.DB) func(bool) {
		options := *gormigrate.DefaultOptions
		options.UseTransaction, options.IDColumnSize = true, 100
		migrations := gormigrate.New(db, &options, []*gormigrate.Migration{
			{ID: "schema", Migrate: func(tx *gorm.DB) error { return tx.AutoMigrate(&Suite{}) }},
			{ID: "rows", Migrate: func(tx *gorm.DB) error { return tx.Updates(&Suite{ID: 2, Name: "migrated"}).Error }},
		})
		testerr.Must(t, migrations.MigrateTo("schema"))
		return func(bool) { check(t, db, "/z/migrated", migrations.Migrate(), nil) }
	},
	"casbin": func(t *testing.T, db *gorm.DB) func(bool) {
		adapter, err := gormadapter.NewAdapterByDB(db)
		testerr.Must(t, err)
		return func(bool) {
			rule := []string{"anna", "/z", "write"}
			testerr.Must(t, errors.Join(adapter.AddPolicy("p", "p", rule), adapter.RemovePolicies("p", "p", [][]string{rule})))
		}
	},
	"opentelemetry": func(t *testing.T, db *gorm.DB) func(bool) {
		spans := tracetest.NewSpanRecorder()
		testerr.Must(t, db.Use(tracing.NewPlugin(tracing.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans))))))
		return func(bool) {
			if !slices.ContainsFunc(spans.Ended(), func(s trace.ReadOnlySpan) bool { return s.Name() == "update suites" }) {
				t.Error("no span tells of the rename")
			}
		}
	},
	"gen": func(t *testing.T, db *gorm.DB) func(bool) {
		var suites gen.DO
		suites.UseDB(db)
		suites.UseModel(&Suite{})
		return func(first bool) {
			_, err := suites.Where(field.NewInt64("suites", "id").Eq(2)).Updates(&Suite{Name: "generated"})
			if first {
				err = errors.Join(err, gormplugin.Rename(suites.WithContext(t.Context()).(*gen.DO).UnderlyingDB(), &Suite{}, 2, "renamed"))
				check(t, db, "/z/renamed", err, nil)
			} else {
				check(t, db, "/z/b", err, gormplugin.ErrUnmanagedTransaction)
			}
		}
	},
}

// Other plugins work beside this one, and this one keeps its promises beside them, in either order.
// Only a session that was made before the plugin was registered is refused.
func TestOtherPlugins(t *testing.T) {
	for name, use := range others {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, the plugin first: %t", name, first), func(t *testing.T) {
				db := databases.Use(t, mysql.Open(testserver.MySQLServer{DSN: testserver.MySQL(t)}.Scratch(t)))
				locker := pathlock.New(memstore.New(), pathlock.WithWait(pathlock.NoWait))
				plugin := gormplugin.New(locker, gormplugin.Model(&Suite{}))
				var work func(bool)
				if first {
					testerr.Must(t, db.Use(plugin))
					work = use(t, db)
				} else {
					work = use(t, db)
					testerr.Must(t, db.Use(plugin))
				}
				testerr.Must(t, gormplugin.AutoMigrate(db))
				write(t, db, locker)
				work(first)
				trees, err := locker.Trees(t.Context())
				if unsafe := gormplugin.Verify(db); err != nil || len(trees) > 0 || errors.Is(unsafe, gormplugin.ErrUnsafeSchema) {
					t.Errorf("locks are left in %v (%v), or %v", trees, err, unsafe)
				}
			})
		}
	}
}

// write does to a tree what is guarded.
func write(t *testing.T, db *gorm.DB, locker *pathlock.Locker) {
	a := Suite{PlanID: 1, Name: "a"}
	testerr.Must(t, db.Create(&a).Error)
	b := Suite{ParentID: &a.ID, Name: "b"}
	testerr.Must(t, db.Create(&b).Error)
	rename := func(tx *gorm.DB, s Suite, name string) error {
		s.Name = name
		return tx.Save(&s).Error
	}
	check(t, db, "/z/b", rename(db, a, "z"), nil)
	check(t, db, "/z/b", rename(db, b, "stale"), gormplugin.ErrStale) // its path has changed
	testerr.Must(t, db.First(&a).Error)
	at, err := gormplugin.Resolve(db, &Suite{}, a.ID)
	testerr.Must(t, err)
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: at.Tree, Claims: []pathlock.Claim{pathlock.X(at.Path)}})
	testerr.Must(t, err)
	check(t, db, "/z/b", rename(db, a, "refused"), pathlock.ErrConflict)
	testerr.Must(t, lock.Release(t.Context()))
	undone := errors.New("undone")
	check(t, db, "/z/b", db.Transaction(func(tx *gorm.DB) error { return errors.Join(rename(tx, a, "undone"), undone) }), undone)
}

// check compares the error of a write, and the path of row 2 after it.
func check(t *testing.T, db *gorm.DB, path string, err, want error) {
	t.Helper()
	var paths []string
	testerr.Must(t, db.Model(&Suite{}).Order("id").Pluck("path", &paths).Error)
	if !errors.Is(err, want) || !slices.Equal(paths, []string{"/z", path}) {
		t.Errorf("got the error %v, want %v, and the tree %q", err, want, paths)
	}
}
