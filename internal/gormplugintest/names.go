package gormplugintest

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// plainKeyed is a tree without anything special.
type plainKeyed struct {
	ID     int64  `gorm:"autoIncrement:false"`
	Tree   int64  `pathlock:"tree"`
	Parent *int64 `pathlock:"parent"`
	Name   string `pathlock:"name" gorm:"size:100"`
	Path   string `pathlock:"path" gorm:"size:500"`
}

// checkNames writes a tree whose table has a name with a prefix, with a schema, or one that needs
// quotes.
func checkNames(t *testing.T, d Database) {
	current := map[string]string{"mysql": "SELECT DATABASE()", "postgres": "SELECT current_schema()", "sqlite": "SELECT 'main'"}
	db := open(t, d, settings{}, new(trace))
	var here string
	if err := db.Raw(current[db.Name()]).Scan(&here).Error; err != nil {
		t.Fatal(err)
	}
	for name, strategy := range map[string]schema.NamingStrategy{
		"a prefix":                 {TablePrefix: "app_", SingularTable: true},
		"a schema":                 {TablePrefix: here + "."},
		"a name that needs quotes": {TablePrefix: "Order-"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &keyed{T: t, db: open(t, d, settings{config: gorm.Config{NamingStrategy: strategy}}, new(trace))}
			stmt := &gorm.Statement{DB: k.db}
			k.must(stmt.Parse(plainKeyed{}))
			k.schema = stmt.Schema
			table := stmt.Quote(stmt.Schema.Table)
			k.must(k.db.Exec("CREATE TABLE " + table + " (id BIGINT PRIMARY KEY, tree BIGINT, parent BIGINT, name VARCHAR(100), path VARCHAR(500))").Error)
			t.Cleanup(func() { k.must(k.db.Exec("DROP TABLE " + table).Error) })
			k.must(k.db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(plainKeyed{}))))

			k.must(k.db.Create(k.rows(k.row(1, 7, nil, "a"), k.row(2, nil, 1, "b"), k.row(3, 7, nil, "d"))).Error)
			k.has("/a /a/b /d")
			k.must(k.db.Model(&plainKeyed{ID: 1}).Update("name", "x").Error)
			k.must(k.db.Model(&plainKeyed{}).Where("name = ?", "b").Update("parent", 3).Error)
			k.has("/d /d/b /x")
			k.must(k.db.Table(stmt.Schema.Table).Model(&plainKeyed{}).Where("name = ?", "b").Update("name", "c").Error)
			k.has("/d /d/c /x")
			k.must(k.db.Save(&plainKeyed{ID: 2, Tree: 7, Name: "top"}).Error)
			k.must(k.db.Where("name = ?", "d").Delete(&plainKeyed{}).Error)
			k.has("/top /x")
			for _, err := range []error{
				k.db.Table(stmt.Schema.Table).Where("id = ?", 1).Update("name", "y").Error,
				k.db.Table("elsewhere."+stmt.Schema.Table[strings.LastIndexByte(stmt.Schema.Table, '.')+1:]).Model(&plainKeyed{ID: 1}).Update("name", "y").Error,
				k.db.Exec("UPDATE " + table + " SET name = 'y'").Error,
			} {
				if !errors.Is(err, gormplugin.ErrUnsupported) {
					t.Errorf("got %v", err)
				}
			}
			k.has("/top /x")
		})
	}
}
