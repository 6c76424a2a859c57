package gormplugintest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// Tables as [gormplugin.AutoMigrate] makes them: with a unique index over the rows at the top.
type (
	// Twig is a tree with a foreign key on itself.
	Twig struct {
		ID       int64
		TreeID   int64  `pathlock:"tree"`
		ParentID *int64 `pathlock:"parent"`
		Parent   *Twig  `gorm:"foreignKey:ParentID"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path" gorm:"size:500"`
	}
	// Thorn is a tree whose parents cannot be NULL: a row with the key 0 is there for the foreign
	// key.
	Thorn struct {
		ID       int64
		TreeID   int64  `pathlock:"tree"`
		ParentID int64  `pathlock:"parent" gorm:"not null"`
		Parent   *Thorn `gorm:"foreignKey:ParentID"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path" gorm:"size:500"`
	}
	// Sepal is a tree whose keys are texts, with both kinds of path.
	Sepal struct {
		ID       string  `gorm:"primaryKey;size:100"`
		TreeID   int64   `pathlock:"tree"`
		ParentID *string `pathlock:"parent" gorm:"size:100"`
		Name     string  `pathlock:"name" gorm:"size:100"`
		Path     string  `pathlock:"path" gorm:"size:500"`
		IDs      string  `pathlock:"idpath" gorm:"size:500;column:ids"`
	}
	// Stem is a tree whose keys are texts, and whose parents cannot be NULL.
	Stem struct {
		ID       string `gorm:"primaryKey;size:100"`
		TreeID   int64  `pathlock:"tree"`
		ParentID string `pathlock:"parent" gorm:"size:100;not null"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path" gorm:"size:500"`
	}
	// Bud is a tree with short names.
	Bud struct {
		ID       int64
		TreeID   int64  `pathlock:"tree"`
		ParentID *int64 `pathlock:"parent"`
		Name     string `pathlock:"name" gorm:"size:2"`
		Path     string `pathlock:"path" gorm:"size:100"`
	}
)

// copyTable is a kind of table that is copied in.
type copyTable struct {
	name  string
	table string
	model func() any
	// add makes a row, at the top if parent is nil, and returns its key.
	add func(db *gorm.DB, tree int64, parent any, name string) (any, error)
	// keys is the option by which a copy gets its keys, where the database does not give them.
	keys func() gormplugin.CopyOption
}

// copyTables are all of them.
func copyTables() []copyTable {
	given := func() gormplugin.CopyOption {
		return gormplugin.CopyValues(map[string]any{"id": gorm.Expr("REPLACE(id, 'key', ?)", fmt.Sprintf("key%x", rand.Uint32()))})
	}
	none := func() gormplugin.CopyOption { return gormplugin.CopyValues(nil) }
	text := func() string { return fmt.Sprintf("key%x", rand.Uint64()) }
	return []copyTable{
		{"a foreign key", "twigs", func() any { return new(Twig) }, func(db *gorm.DB, tree int64, parent any, name string) (any, error) {
			row := &Twig{TreeID: tree, Name: name}
			if id, ok := parent.(int64); ok {
				row.ParentID = &id
			}
			err := db.Create(row).Error
			return row.ID, err
		}, none},
		{"a foreign key, without NULL", "thorns", func() any { return new(Thorn) }, func(db *gorm.DB, tree int64, parent any, name string) (any, error) {
			id, _ := parent.(int64)
			row := &Thorn{TreeID: tree, ParentID: id, Name: name}
			err := db.Create(row).Error
			return row.ID, err
		}, none},
		{"keys that are texts", "sepals", func() any { return new(Sepal) }, func(db *gorm.DB, tree int64, parent any, name string) (any, error) {
			row := &Sepal{ID: text(), TreeID: tree, Name: name}
			if id, ok := parent.(string); ok {
				row.ParentID = &id
			}
			err := db.Create(row).Error
			return row.ID, err
		}, given},
		{"keys that are texts, without NULL", "stems", func() any { return new(Stem) }, func(db *gorm.DB, tree int64, parent any, name string) (any, error) {
			id, _ := parent.(string)
			row := &Stem{ID: text(), TreeID: tree, ParentID: id, Name: name}
			err := db.Create(row).Error
			return row.ID, err
		}, given},
	}
}

// checkCopyTables copies in tables as [gormplugin.AutoMigrate] makes them.
func checkCopyTables(t *testing.T, d Database) {
	db := open(t, d, settings{connections: 2}, new(trace))
	options := []gormplugin.Option{gormplugin.Model(&Bud{})}
	for _, table := range copyTables() {
		options = append(options, gormplugin.Model(table.model()))
	}
	w := &world{T: t, db: db}
	w.must(db.Use(gormplugin.New(pathlock.New(memstore.New()), options...)))
	w.must(gormplugin.AutoMigrate(db))
	w.must(db.Connection(func(tx *gorm.DB) error { return plantNobody(gormplugin.AllowRawWrites(tx)) }))
	for _, table := range copyTables() {
		for _, c := range []struct {
			name string
			// from and below are the paths of what is copied and where to; below is "" for the top.
			from, below string
			// another is set where the copy is in another tree.
			another bool
			want    string
		}{
			{"to the top", "/src", "", false, "/new"},
			{"to below another row", "/src", "/dst", false, "/dst/new"},
			{"into the own subtree", "/src", "/src/a/src", false, "/src/a/src/new"},
			{"to below a child of one name", "/src/a", "/src/c", false, "/src/c/new"},
			{"into another tree", "/src", "/dst", true, "/dst/new"},
			{"of a row without any below", "/src/a/setup", "", false, "/new"},
		} {
			t.Run(table.name+"/"+c.name, func(t *testing.T) {
				(&copier{world: &world{T: t, db: db}, copyTable: table}).check(c.from, c.below, c.want, c.another)
			})
		}
		// Others have one writer, or lock more than the rows that they read.
		if db.Name() == "postgres" {
			t.Run(table.name+"/by two at once", func(t *testing.T) {
				(&copier{world: &world{T: t, db: db}, copyTable: table}).checkTwo()
			})
		}
	}
	t.Run("short names", func(t *testing.T) { checkShortNames(&world{T: t, db: db}) })
}

// plantNobody makes the row of [Thorn] that is the parent of rows at the top.
func plantNobody(tx *gorm.DB) error {
	statements := map[string][]string{
		"mysql": {
			"SET SESSION sql_mode = CONCAT_WS(',', @@sql_mode, 'NO_AUTO_VALUE_ON_ZERO')", "",
			"SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_AUTO_VALUE_ON_ZERO', '')",
		},
		"sqlite": {"PRAGMA foreign_keys = ON", ""},
	}[tx.Name()]
	if statements == nil {
		statements = []string{""}
	}
	for _, s := range statements {
		if s == "" {
			s = "INSERT INTO thorns (id, tree_id, parent_id, name, path) VALUES (0, -1, 0, 'nobody', '/nobody')"
		}
		if err := tx.Exec(s).Error; err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// copier copies in one kind of table.
type copier struct {
	*world
	copyTable
}

// planted are the paths of the source's tree: folders of one name in different folders, ones with
// the names of rows at the top and of their parents, and numbers, which whoever numbers rows must
// not take for free.
var planted = []string{
	"/setup", "/src", "/src/a", "/src/a/setup", "/src/a/src", "/src/a/src/setup", "/src/c", "/src/c/setup", "/src/c/a", "/src/c/a/setup", "/src/dst",
	"/src/1", "/src/2", "/src/2/1", "/src/2/2", "/src/测试", "/src/测试/a b", "/src/测试/a b/😀", "/dst", "/dst/setup",
}

// plant makes a tree with the paths, and returns its number and the keys.
func (c *copier) plant() (tree int64, keys map[string]any) {
	c.Helper()
	tree, keys = rand.Int64N(1<<50), make(map[string]any)
	for _, path := range planted {
		at := strings.LastIndexByte(path, '/')
		key, err := c.add(c.db, tree, keys[path[:at]], path[at+1:])
		c.must(err)
		keys[path] = key
	}
	return tree, keys
}

// check copies one row of a new tree.
func (c *copier) check(from, below, want string, another bool) {
	c.Helper()
	tree, keys := c.plant()
	id, source := keys[from], tree
	if another {
		tree, keys = c.plant()
	}
	var expected []string
	for _, path := range planted {
		if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || rest[0] == '/') {
			expected = append(expected, want+rest)
		}
	}
	rows, err := gormplugin.Copy(c.db, c.model(), id, keys[below], gormplugin.CopyAs("new"), c.keys())
	c.must(err)
	if rows != int64(len(expected)) {
		c.Errorf("%d rows, want %d", rows, len(expected))
	}
	c.grows(tree, append(slices.Clone(planted), expected...))
	if another {
		c.grows(source, planted)
	}
}

// checkTwo copies one row twice at the same time: neither waits for the other.
func (c *copier) checkTwo() {
	c.Helper()
	tree, keys := c.plant()
	ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
	defer cancel()
	want := slices.Clone(planted)
	var open []*gorm.DB
	for _, name := range []string{"one", "two"} {
		tx := c.db.WithContext(ctx).Begin(&sql.TxOptions{Isolation: sql.LevelReadCommitted})
		c.must(tx.Error)
		defer tx.Rollback()
		_, err := gormplugin.Copy(tx, c.model(), keys["/src"], keys["/dst"], gormplugin.CopyAs(name), c.keys())
		c.must(err)
		open = append(open, tx)
		for _, path := range planted {
			if rest, ok := strings.CutPrefix(path, "/src"); ok {
				want = append(want, "/dst/"+name+rest)
			}
		}
	}
	for _, tx := range open {
		c.must(tx.Commit().Error)
	}
	c.grows(tree, want)
}

// grows checks the paths of a tree, and that the parents and names say the same.
func (c *copier) grows(tree int64, want []string) {
	c.Helper()
	type row struct {
		ID       string
		ParentID sql.NullString
		Name     string
		Path     string
	}
	var rows []row
	c.must(c.db.Raw("SELECT id, parent_id, name, path FROM "+c.table+" WHERE tree_id = ?", tree).Scan(&rows).Error)
	byID, paths := make(map[string]row), make([]string, 0, len(rows))
	for _, r := range rows {
		byID[r.ID] = r
	}
	for _, r := range rows {
		paths = append(paths, r.Path)
		above := byID[r.ParentID.String].Path
		if isTop := r.ParentID.String == "" || r.ParentID.String == "0"; !isTop && above == "" || above+"/"+r.Name != r.Path {
			c.Errorf("%q is at %q, below %q", r.Name, r.Path, above)
		}
	}
	slices.Sort(paths)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(paths, want) {
		c.Errorf("the tree is\n\t%s\nwant\n\t%s", strings.Join(paths, " "), strings.Join(want, " "))
	}
}

// checkShortNames copies as many rows as names of two characters have room for, and one more.
func checkShortNames(w *world) {
	tree := rand.Int64N(1 << 50)
	top := &Bud{TreeID: tree, Name: "a"}
	w.must(w.db.Create(top).Error)
	count := func() (rows int64) {
		w.must(w.db.Model(&Bud{}).Where("tree_id = ?", tree).Count(&rows).Error)
		return rows
	}
	for i := range 8 {
		w.must(w.db.Create(&Bud{ParentID: &top.ID, Name: fmt.Sprint(i)}).Error)
	}
	rows, err := gormplugin.Copy(w.db, &Bud{}, top.ID, nil, gormplugin.CopyAs("b"))
	w.must(err)
	if rows != 9 || count() != 18 {
		w.Errorf("%d rows were copied, and there are %d, want 9 and 18", rows, count())
	}
	w.must(w.db.Create(&Bud{ParentID: &top.ID, Name: "8"}).Error)
	_, err = gormplugin.Copy(w.db, &Bud{}, top.ID, nil, gormplugin.CopyAs("c"))
	w.fails(err, gormplugin.ErrUnsupported)
	if count() != 19 {
		w.Errorf("there are %d rows, want 19", count())
	}
}
