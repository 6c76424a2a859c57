package gormplugin_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/utils/tests"
)

// nowhere is a dialector of any name, for a database that cannot be reached.
type nowhere struct {
	tests.DummyDialector
	name string
	pool gorm.ConnPool
}

func (n nowhere) Name() string { return n.name }

func (n nowhere) Initialize(db *gorm.DB) error {
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{})
	db.ConnPool = n.pool
	return nil
}

// unreachable is a connector that never connects.
type unreachable struct{}

func (unreachable) Connect(context.Context) (driver.Conn, error) { return nil, errors.New("nowhere") }
func (unreachable) Driver() driver.Driver                        { return nil }

func openNowhere(t *testing.T, name string) *gorm.DB {
	t.Helper()
	pool := sql.OpenDB(unreachable{})
	t.Cleanup(func() { _ = pool.Close() })
	db, err := gorm.Open(nowhere{name: name, pool: pool}, &gorm.Config{DisableAutomaticPing: true})
	must(t, err)
	return db
}

type (
	tagged struct {
		ID     int64
		PlanID int64  `pathlock:"tree"`
		Above  *int64 `pathlock:"parent"`
		Name   string `pathlock:"name"`
		Path   string `pathlock:"path"`
	}
	untagged struct {
		ID     int64
		PlanID int64
		Above  *int64
		Title  string
		Route  string
	}
	pathless struct {
		ID     int64
		PlanID int64  `pathlock:"tree"`
		Above  *int64 `pathlock:"parent"`
		Name   string `pathlock:"name"`
	}
	composite struct {
		A int64 `gorm:"primaryKey;autoIncrement:false"`
		B int64 `gorm:"primaryKey;autoIncrement:false"`
	}
	bytesInPath struct {
		ID     []byte
		PlanID int64  `pathlock:"tree"`
		Above  []byte `pathlock:"parent"`
		Name   string `pathlock:"name"`
		IDs    string `pathlock:"idpath"`
	}
	leaf struct {
		ID    int64
		Above int64  `pathlock:"parent"`
		Name  string `pathlock:"name"`
	}
	fixedPath struct {
		ID     int64
		PlanID int64  `pathlock:"tree"`
		Above  *int64 `pathlock:"parent"`
		Name   string `pathlock:"name"`
		Path   string `pathlock:"path" gorm:"<-:create"`
	}
	defaultPath struct {
		ID     int64
		PlanID int64  `pathlock:"tree"`
		Above  *int64 `pathlock:"parent"`
		Name   string `pathlock:"name"`
		Path   string `pathlock:"path" gorm:"default:/"`
	}
	toldLeaf struct {
		Base  leaf   `gorm:"embedded"`
		Path  string `pathlock:"path" gorm:"-"`
		Where string `gorm:"-:all"`
	}
)

func TestUse(t *testing.T) {
	for _, c := range []struct {
		name    string
		dialect string
		options []gormplugin.Option
		want    string // a part of the error, "" for none
	}{
		{"tags", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{})}, ""},
		{"SQLite", "sqlite", []gormplugin.Option{gormplugin.Model(tagged{}, gormplugin.Namespace("x"))}, ""},
		{"one column with two roles", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{Tree: "above"})}, "Above cannot be both the tree and the parent"},
		{"columns named by field or column", "mysql", []gormplugin.Option{gormplugin.Model(&untagged{}, gormplugin.Columns{Tree: "plan_id", Parent: "Above", Name: "Title", Path: "route"})}, ""},
		{"an unknown database", "oracle", []gormplugin.Option{gormplugin.Model(&tagged{})}, `"oracle"`},
		{"no model", "mysql", nil, "no model"},
		{"no tags", "mysql", []gormplugin.Option{gormplugin.Model(&untagged{})}, `pathlock:"tree"`},
		{"no path", "mysql", []gormplugin.Option{gormplugin.Model(&pathless{})}, `pathlock:"path"`},
		{"a named column that is not there", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{Path: "nowhere"})}, `"nowhere"`},
		{"a primary key of two columns", "mysql", []gormplugin.Option{gormplugin.Model(&composite{})}, "make the id the primary key"},
		{"a path of ids with keys of bytes", "mysql", []gormplugin.Option{gormplugin.Model(&bytesInPath{})}, "numbers or texts"},
		{"a model twice", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Model(&tagged{})}, "twice"},
		{"a leaf below a model that is not registered", "mysql", []gormplugin.Option{gormplugin.Leaf(&leaf{}, &tagged{})}, "not registered"},
		{"a leaf below a leaf", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Leaf(&leaf{}, &leaf{})}, "no path column"},
		{"a leaf that is told its path", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Leaf(&toldLeaf{}, &tagged{})}, ""},
		{"a leaf that would be told its path in a column", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Leaf(&leaf{}, &tagged{}, gormplugin.Columns{Path: "Name"})}, "cannot be both the name and the path"},
		{"a limit of the depth", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.MaxDepth(1))}, ""},
		{"a limit that no path can reach", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.MaxDepth(pathlock.MaxDepth+1))}, "from 1 to 256"},
		{"a leaf with a limit", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Leaf(&leaf{}, &tagged{}, gormplugin.MaxDepth(3))}, "a leaf has no MaxDepth"},
		{"a path that is written once", "mysql", []gormplugin.Option{gormplugin.Model(&fixedPath{})}, "Path has to be readable and writable"},
		{"a path with a default", "mysql", []gormplugin.Option{gormplugin.Model(&defaultPath{})}, "cannot have the default /"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := openNowhere(t, c.dialect).Use(gormplugin.New(pathlock.New(memstore.New()), c.options...))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestUseOnce(t *testing.T) {
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}))
	if _, err := plugin.Resolver(&tagged{}).Resolve(t.Context(), "1"); err == nil {
		t.Error("a resolver of a plugin that is not in use found something")
	}
	must(t, openNowhere(t, "mysql").Use(plugin))
	if err := openNowhere(t, "mysql").Use(plugin); err == nil {
		t.Error("one plugin serves two databases")
	}
	if _, err := plugin.Resolver(&leaf{}).Resolve(t.Context(), "1"); err == nil {
		t.Error("a resolver of a model that is not registered found something")
	}
}

// A pool whose transactions nobody could see end is refused.
func TestUnknownPool(t *testing.T) {
	db := openNowhere(t, "mysql")
	db.ConnPool = struct{ gorm.ConnPool }{db.ConnPool}
	if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}))); !errors.Is(err, gormplugin.ErrUnmanagedTransaction) {
		t.Errorf("got %v", err)
	}
}

// Where the database cannot be reached, no lock stays behind.
func TestDatabaseDown(t *testing.T) {
	locker := pathlock.New(memstore.New())
	db := openNowhere(t, "mysql")
	must(t, db.Use(gormplugin.New(locker, gormplugin.Model(&tagged{}))))
	if err := db.Create(&tagged{PlanID: 1, Name: "a"}).Error; err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got %v", err)
	}
	noLocks(t, locker)
}
