package integration

import (
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/dbresolver"
)

// With dbresolver, reads go to a replica, which here has nothing in it: what the plugin relies on
// has to come from the source. Writes are guarded in either order of registration, or refused where
// their transaction is none of the plugin's.
func TestDBResolver(t *testing.T) {
	t.Parallel()
	source, replica := databases.Postgres(t, databases.ByteOrder, nil), databases.Postgres(t, databases.ByteOrder, nil)
	guarded(t, replica)
	guarded(t, source)
	plan := int64(0)
	for _, order := range []string{"the plugin first", "dbresolver first"} {
		for _, c := range []struct {
			name string
			// sources are dbresolver's, beside the DB itself.
			sources func(p *gormplugin.Plugin, pool *sql.DB) []gorm.Dialector
			// refused says whether transactions that dbresolver.Write begins are.
			refused bool
		}{
			{"a replica", func(*gormplugin.Plugin, *sql.DB) []gorm.Dialector { return nil }, order == "dbresolver first"},
			{"a source", func(_ *gormplugin.Plugin, pool *sql.DB) []gorm.Dialector {
				return []gorm.Dialector{source.Dialector(pool)}
			}, order == "dbresolver first"},
			{"a source by Pool", func(p *gormplugin.Plugin, pool *sql.DB) []gorm.Dialector {
				return []gorm.Dialector{postgres.New(postgres.Config{Conn: p.Pool(pool)})}
			}, false},
		} {
			for mode, config := range map[string]gorm.Config{"": {}, ", prepared": {PrepareStmt: true, SkipDefaultTransaction: true}} {
				plan++
				t.Run(order+", "+c.name+mode, func(t *testing.T) {
					open := func(d gormplugintest.Database) *sql.DB {
						pool := databases.Pool(t, d.Connector)
						t.Cleanup(func() {
							if n := pool.Stats().InUse; n != 0 {
								t.Errorf("%d connections are in use", n)
							}
						})
						return pool
					}
					config.Logger = logger.Discard
					db, err := gorm.Open(source.Dialector(open(source)), &config)
					testerr.Must(t, err)
					locker := pathlock.New(memstore.New())
					plugin := gormplugintest.NewPlugin(locker)
					resolver := dbresolver.Register(dbresolver.Config{
						Sources:  c.sources(plugin, open(source)),
						Replicas: []gorm.Dialector{replica.Dialector(open(replica))},
					})
					plugins := []gorm.Plugin{plugin, resolver}
					if order == "dbresolver first" {
						slices.Reverse(plugins)
					}
					for _, p := range plugins {
						testerr.Must(t, db.Use(p))
					}
					root := &gormplugintest.Suite{PlanID: plan}
					life := func(tx *gorm.DB) error {
						a := &gormplugintest.Suite{ParentID: &root.ID, Name: "a"}
						if err := tx.Create(a).Error; err != nil {
							return err
						}
						return errors.Join(
							tx.Create(&gormplugintest.Suite{ParentID: &a.ID, Name: "b"}).Error,
							tx.Model(a).Update("note", "x").Error,
							tx.Model(a).Update("name", "c").Error,
							tx.Where("plan_id = ? AND path = ?", plan, "/c/b").Delete(&gormplugintest.Suite{}).Error,
						)
					}
					check := func(err error, want ...string) {
						t.Helper()
						testerr.None(t, err)
						var paths []string
						err = db.Clauses(dbresolver.Write).Model(&gormplugintest.Suite{}).Where("plan_id = ? AND path <> ''", plan).Order("path").Pluck("path", &paths).Error
						if err != nil || !slices.Equal(paths, want) {
							t.Errorf("the tree is %q (%v), want %q", paths, err, want)
						}
					}
					remove := func() {
						t.Helper()
						check(db.Where("plan_id = ? AND path = ?", plan, "/c").Delete(&gormplugintest.Suite{}).Error)
					}
					if order == "the plugin first" {
						// A migration takes place on one connection of the DB's own.
						if err := gormplugin.AutoMigrate(db, &gormplugintest.Other{}); err != nil && !errors.Is(err, gormplugin.ErrUnsafeSchema) {
							t.Error(err)
						}
					}
					check(db.Create(root).Error)
					check(life(db), "/c")
					remove()
					check(db.Transaction(life), "/c")
					remove()
					tx := db.Clauses(dbresolver.Write).Begin()
					if c.refused {
						if err := life(tx); !errors.Is(err, gormplugin.ErrUnmanagedTransaction) {
							t.Errorf("got the error %v", err)
						}
						check(tx.Rollback().Error)
					} else {
						err := life(tx)
						check(errors.Join(err, tx.Commit().Error), "/c")
						remove()
					}
					trees, err := locker.Trees(t.Context())
					if err != nil || len(trees) > 0 {
						t.Errorf("locks are left in %v (%v)", trees, err)
					}
				})
			}
		}
	}
	if t.Failed() {
		return
	}
	var rows int64
	err := databases.Pool(t, replica.Connector).QueryRowContext(t.Context(),
		"SELECT (SELECT COUNT(*) FROM suites) + (SELECT COUNT(*) FROM pg_tables WHERE tablename = 'others')").Scan(&rows)
	if err != nil || rows != 0 {
		t.Errorf("%d rows and tables in the replica (%v)", rows, err)
	}
}

// Verify looks where dbresolver writes the table, in which a migration of the DB's own database has
// made nothing.
func TestVerify_source(t *testing.T) {
	t.Parallel()
	for name, tables := range map[string][]any{"every table": nil, "one table": {&gormplugintest.Branch{}, "trees"}} {
		t.Run(name, func(t *testing.T) {
			db, source := openMigrated(t, databases.SQLite(t)), databases.SQLite(t)
			testerr.Must(t, db.Use(dbresolver.Register(dbresolver.Config{Sources: []gorm.Dialector{source.Dialector(databases.Pool(t, source.Connector))}}, tables...)))
			finds(t, db, treeschema.TableExists)
			testerr.Must(t, gormplugin.AutoMigrate(db.Clauses(dbresolver.Use("trees"), dbresolver.Write)))
			finds(t, db)
		})
	}
}
