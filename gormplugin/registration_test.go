package gormplugin_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/logger"
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
	db, err := gorm.Open(nowhere{name: name, pool: pool}, &gorm.Config{DisableAutomaticPing: true, Logger: logger.Discard})
	testerr.Must(t, err)
	return db
}

type (
	// Node has the columns of a tree, with their tags.
	Node struct {
		ID     int64
		PlanID int64  `pathlock:"tree"`
		Above  *int64 `pathlock:"parent"`
		Name   string `pathlock:"name"`
		Path   string `pathlock:"path"`
	}
	tagged struct {
		Node
		Code sql.NullString
	}
	twice struct {
		ID      int64
		UserID  int64  `pathlock:"tree"`
		Storage string `pathlock:"tree"`
	}
	untagged struct {
		ID, PlanID   int64
		Above        *int64
		Title, Route string
	}
	bytesInPath struct {
		ID     []byte
		PlanID int64  `pathlock:"tree"`
		Above  []byte `pathlock:"parent"`
		IDs    string `pathlock:"idpath"`
	}
	misformed struct {
		ID, PlanID int64
		Above      *int64
		Name       string `pathlock:"name,form:*,*,"`
		Path       string
		Tree       string `gorm:"type:ltree"`
	}
	marked struct {
		Node
		Gone   bool `pathlock:"deleted"`
		Hidden gorm.DeletedAt
	}
	unhidden struct {
		Node
		Gone   time.Time `pathlock:"deleted"`
		Flag   *bool
		Status int
		Note   string
		Under  prefixed
	}
	unlike struct {
		Node
		JSON  string `gorm:"serializer:json"`
		Fixed string `gorm:"<-:false"`
		Slash string `gorm:"default:/"`
	}
	// Below has the columns of a leaf.
	Below struct {
		ID    int64
		Above int64  `pathlock:"parent"`
		Name  string `pathlock:"name" gorm:"uniqueIndex:twice"`
	}
	leaf       struct{ Below }
	formedLeaf struct {
		Below
		Path string `pathlock:"path,form:*.*" gorm:"-"`
	}
	pathLeaf struct {
		Below
		Path, IDs string
		Sole      string `gorm:"uniqueIndex:twice"`
		Another   int64
	}
	composite struct {
		A int64 `gorm:"primaryKey;autoIncrement:false"`
		B int64 `gorm:"primaryKey;autoIncrement:false"`
	}
)

// prefixed is a key that its column holds with a prefix.
type prefixed string

// Value implements [driver.Valuer].
func (p prefixed) Value() (driver.Value, error) { return "k-" + string(p), nil }

// leafPath registers a leaf with columns.
func leafPath(columns gormplugin.Columns) []gormplugin.Option {
	return []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Leaf(&pathLeaf{}, &tagged{}, columns)}
}

func TestUse(t *testing.T) {
	for _, c := range []struct {
		name    string
		dialect string
		options []gormplugin.Option
		want    string // a part of the error, "" for none
	}{
		{"one column with two roles", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{Tree: "above"})}, `the tree column and the parent column are both "above"`},
		{"columns named by field or column", "mysql", []gormplugin.Option{gormplugin.Model(&untagged{}, gormplugin.Columns{Tree: "plan_id", Parent: "Above", Name: "Title", Path: "route"})}, ""},
		{"no tags", "mysql", []gormplugin.Option{gormplugin.Model(&untagged{})}, `pathlock:"tree"`},
		{"no tree at all", "mysql", []gormplugin.Option{gormplugin.Model(&untagged{}, gormplugin.SingleTree(""))}, "by SingleTree"},
		{"a single tree with an id that none can have", "mysql", []gormplugin.Option{gormplugin.Model(&untagged{}, gormplugin.SingleTree("a\nb"))}, pathlock.ErrInvalidTree.Error()},
		{"a namespace that is too long", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Namespace(strings.Repeat("n", 256)))}, pathlock.ErrInvalidTree.Error()},
		{"a namespace that none can be", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Namespace("a\nb"))}, pathlock.ErrInvalidTree.Error()},
		{"a path that is a number", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Path: "status", Deleted: "note"})}, "must be a text"},
		{"a key that is written anew", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Parent: "under", Deleted: "note"})}, "gormplugin_test.prefixed"},
		{"a path of ids with keys of bytes", "mysql", []gormplugin.Option{gormplugin.Model(&bytesInPath{})}, "numbers or texts"},
		{"a named column that is not there", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{Path: "nowhere"})}, `"nowhere"`},
		{"a form whose subtrees are no range", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{PathForm: "/*/*|"})}, "range of the index"},
		{"a depth that is a text", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Depth: "note", Deleted: "status"})}, "a whole number"},
		{"a leaf with a depth below rows without", "mysql", leafPath(gormplugin.Columns{Path: "Path", Depth: "Another"}), "a depth in tagged"},
		{"a top that no key can be", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{ParentTop: "self"})}, "parent of rows at the top"},
		{"a top that is one already", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{ParentTop: "0"})}, "other than NULL"},
		{"two columns of the tree", "mysql", []gormplugin.Option{gormplugin.Model(&twice{})}, "one column, made of both"},
		{"a form of a name", "mysql", []gormplugin.Option{gormplugin.Model(&misformed{}, gormplugin.Columns{Tree: "PlanID", Parent: "Above"})}, `pathlock:"name,form:*,*,"`},
		{"a leaf that is told its path in a form", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Leaf(&formedLeaf{}, &tagged{})}, "has no form"},
		{"a leaf with a tree", "mysql", leafPath(gormplugin.Columns{Tree: "Another"}), "in the tree of its parent"},
		{"a leaf with a path of ids below rows without", "mysql", leafPath(gormplugin.Columns{IDPath: "IDs"}), "tagged has no path of that kind"},
		{"a leaf with a path in another form", "mysql", leafPath(gormplugin.Columns{Path: "Path", PathForm: "parent:/*/*/"}), "/*/*, alone or behind parent:"},
		{"a leaf with a unique path", "mysql", leafPath(gormplugin.Columns{Path: "Sole"}), "make the parent and the name unique"},
		{"a leaf below a leaf", "mysql", append(leafPath(gormplugin.Columns{Path: "Path"}), gormplugin.Leaf(&leaf{}, &pathLeaf{})), "which is a leaf"},
		{"a leaf with the path of its parent", "mysql", leafPath(gormplugin.Columns{Path: "Path", PathForm: "parent:/*/*"}), ""},
		{"a path that is an ltree", "postgres", []gormplugin.Option{gormplugin.Model(&misformed{}, gormplugin.Columns{Tree: "PlanID", Parent: "Above", Name: "Path", Path: "Tree", PathForm: "*.*"})}, "a text with the form *.*"},
		{"a mark of deletion that GORM knows", "mysql", []gormplugin.Option{gormplugin.Model(&marked{})}, "by its type"},
		{"a mark of deletion with two live values", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Deleted: "flag"})}, "not a *bool"},
		{"a time that cannot be NULL as a mark", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{})}, "not a time.Time"},
		{"a number as mark", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Deleted: "status", DeletedWhen: "2"})}, ""},
		{"a mark in another spelling", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Deleted: "status", DeletedWhen: "02"})}, "a number other than 0"},
		{"a mark that a pointer holds", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Deleted: "flag", DeletedWhen: "2"})}, "no pointer"},
		{"a mark that GORM leaves out", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Deleted: "status", DeletedWhen: "0"})}, "a number other than 0"},
		{"a mark with quotes", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Deleted: "note", DeletedWhen: "a'b"})}, "without quotes"},
		{"a name as mark", "mysql", []gormplugin.Option{gormplugin.Model(&unhidden{}, gormplugin.Columns{Deleted: "name"})}, "a column of the tree"},
		{"a primary key of two columns", "mysql", []gormplugin.Option{gormplugin.Model(&composite{})}, "make the id the primary key"},
		{"a model twice", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Model(&tagged{})}, "twice"},
		{"a leaf below a model that is not registered", "mysql", []gormplugin.Option{gormplugin.Leaf(&leaf{}, &tagged{})}, "not registered"},
		{"columns of another table", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{Table: "others"})}, "a method TableName"},
		{"another key", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.Columns{Key: "name"})}, "the key is ID"},
		{"a path with a serializer", "mysql", []gormplugin.Option{gormplugin.Model(&unlike{}, gormplugin.Columns{Path: "json"})}, "cannot have a serializer"},
		{"a path that nobody may write", "mysql", []gormplugin.Option{gormplugin.Model(&unlike{}, gormplugin.Columns{Path: "fixed"})}, "readable and writable"},
		{"a path with a default", "mysql", []gormplugin.Option{gormplugin.Model(&unlike{}, gormplugin.Columns{Path: "slash"})}, "the default /"},
		{"a leaf without a name", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Leaf(&untagged{}, &tagged{}, gormplugin.Columns{Parent: "Above"})}, "no name column"},
		{"a limit that no path can reach", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}, gormplugin.MaxDepth(pathlock.MaxDepth+1))}, "from 1 to 256"},
		{"a leaf with a limit", "mysql", []gormplugin.Option{gormplugin.Model(&tagged{}), gormplugin.Leaf(&leaf{}, &tagged{}, gormplugin.MaxDepth(3))}, "a leaf has no MaxDepth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := openNowhere(t, c.dialect).Use(gormplugin.New(pathlock.New(memstore.New()), c.options...))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A lease with which no request could ever be served is refused, too.
func TestUse_refusesALease(t *testing.T) {
	locker := pathlock.New(memstore.New(), pathlock.WithLease(time.Millisecond))
	testerr.Is(t, "a millisecond", openNowhere(t, "mysql").Use(gormplugin.New(locker, gormplugin.Model(&tagged{}))), pathlock.ErrInvalidRequest)
}

func TestUseOnce(t *testing.T) {
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}))
	// A program may answer requests before it has a database.
	if _, err := plugin.Resolver(&tagged{}).Resolve(t.Context(), "1"); pathlock.FailureOf(err) != pathlock.FailureDatabase || plugin.FailureOf(err) != pathlock.FailureDatabase {
		t.Errorf("a resolver of a plugin that is not in use: %v", err)
	}
	db := openNowhere(t, "mysql")
	requests, stop := context.WithCancel(t.Context())
	asked := make(chan struct{})
	go func() { // requests arrive at any time
		defer close(asked)
		r := plugin.Resolver(&tagged{}).(interface {
			pathlock.Resolver
			Prepare(context.Context) context.Context
		})
		for requests.Err() == nil {
			_, err := r.Resolve(r.Prepare(t.Context()), "1")
			_ = plugin.FailureOf(errors.Join(err, gorm.ErrInvalidDB))
		}
	}()
	defer func() { stop(); <-asked }()
	if err := gormplugin.Verify(db); err == nil || !strings.Contains(err.Error(), "does not use the plugin") {
		t.Errorf("Verify without the plugin: %v", err)
	}
	early := db.Debug()
	testerr.Must(t, db.Use(plugin))
	for _, err := range []error{gormplugin.AutoMigrate(early), gormplugin.Verify(early)} {
		testerr.Is(t, "a session from before Use", err, gormplugin.ErrUnmanagedTransaction)
	}
	if err := openNowhere(t, "mysql").Use(plugin); err == nil {
		t.Error("one plugin serves two databases")
	}
	// An installer corrects its settings, and opens the database anew.
	pool, err := db.DB()
	testerr.Must(t, err)
	testerr.Must(t, pool.Close())
	if err := openNowhere(t, "tidb").Use(plugin); err == nil {
		t.Error("a plugin is in use by a database of an unknown kind")
	}
	underWay := func() {
		t.Helper()
		if err := gormplugin.AutoMigrate(db); pathlock.FailureOf(err) != pathlock.FailureDatabase || !strings.Contains(err.Error(), "no longer serves") {
			t.Errorf("the DB that was closed: %v", err)
		}
		if got := plugin.FailureOf(&mysql.MySQLError{Number: 1213}); got != pathlock.FailureLocked {
			t.Errorf("a deadlock of the DB that was closed is %q", got)
		}
	}
	underWay()
	again := openNowhere(t, "postgres")
	testerr.Must(t, again.Use(plugin))
	underWay()
	if _, err := gormplugin.Describe(again, &tagged{}); err != nil {
		t.Errorf("the plugin of a DB that was opened anew: %v", err)
	}
	if _, err := plugin.Resolver(&leaf{}).Resolve(t.Context(), "1"); err == nil {
		t.Error("a resolver of a model that is not registered found something")
	}
	type forgotten struct {
		ID       int64
		ParentID *int64 `pathlock:"parent"`
	}
	testerr.Is(t, "a write of a model that is not registered", again.Create(&forgotten{}).Error, gormplugin.ErrUnsupported)
	for _, err := range []error{again.Table("archive").Create(&forgotten{}).Error, again.Create(&leaf{}).Error} {
		if err == nil || errors.Is(err, gormplugin.ErrUnsupported) {
			t.Errorf("a write to another table, or of an embedded struct, got %v, want it to reach the database", err)
		}
	}
}

// Of two DBs at once, one gets the plugin, and goes on with it.
func TestUse_atOnce(t *testing.T) {
	for range 100 {
		plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}))
		dbs, errs, start := []*gorm.DB{openNowhere(t, "mysql"), openNowhere(t, "postgres")}, make([]error, 2), make(chan struct{})
		var using sync.WaitGroup
		for i, db := range dbs {
			using.Go(func() { <-start; errs[i] = db.Use(plugin) })
		}
		close(start)
		using.Wait()
		won, lost := 0, 1
		if errs[won] != nil {
			won, lost = lost, won
		}
		if errs[won] != nil || errs[lost] == nil || !strings.Contains(errs[lost].Error(), "in use by a DB already") {
			t.Fatalf("got the errors %v", errs)
		}
		if _, err := gormplugin.Describe(dbs[won], &tagged{}); err != nil {
			t.Fatal(err)
		}
		if err := gormplugin.Rename(dbs[won], &tagged{}, 1, "b"); err == nil || !strings.HasSuffix(err.Error(), "nowhere") {
			t.Fatalf("a write went no further than %v", err)
		}
	}
}

// A column by which no row could be found is refused by db.Use, or by the look-up if the plugin is
// in use already.
func TestResolverBy_refusesColumns(t *testing.T) {
	one := func(context.Context) (any, error) { return 1, nil }
	for _, c := range []struct {
		model  any
		column string
		tree   []func(context.Context) (any, error)
		says   string
	}{
		{&tagged{}, "alias", nil, "no such column"},
		{&tagged{}, "path", nil, "say in which one to look"},
		{&leaf{}, "name", []func(context.Context) (any, error){one}, "leave out the tree"},
		{&tagged{}, "name", []func(context.Context) (any, error){nil}, "the tree is nil"},
		{&tagged{}, "Above", nil, "several rows"},
		{&tagged{}, "code", nil, "sql.NullString has no text form"},
		{&Suite{}, "name", nil, "not registered"},
	} {
		plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}), gormplugin.Leaf(&leaf{}, &tagged{}))
		plugin.ResolverBy(c.model, c.column, c.tree...)
		if err := openNowhere(t, "mysql").Use(plugin); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%T by %s: Use: %v", c.model, c.column, err)
		}
		plugin = gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}), gormplugin.Leaf(&leaf{}, &tagged{}))
		testerr.Must(t, openNowhere(t, "sqlite").Use(plugin))
		if _, err := plugin.ResolverBy(c.model, c.column, c.tree...).Resolve(t.Context(), "1"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%T by %s: %v", c.model, c.column, err)
		}
	}
}

// A pool is refused if the plugin could not see its transactions end.
func TestUse_refusesAnUnknownPool(t *testing.T) {
	db := openNowhere(t, "mysql")
	db.ConnPool = struct{ gorm.ConnPool }{db.ConnPool}
	if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}))); !errors.Is(err, gormplugin.ErrUnmanagedTransaction) {
		t.Errorf("got %v", err)
	}
}
