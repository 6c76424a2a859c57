package gormplugintest

import (
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"gorm.io/gorm"
)

// Indexed is a tree whose model names the index over tree and path, as one before the plugin does.
type Indexed struct {
	ID       int64
	TreeID   int64  `pathlock:"tree" gorm:"index:box_where,priority:1"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500;index:box_where,priority:2"`
}

// TableName implements [schema.Tabler].
func (Indexed) TableName() string { return "boxes" }

// Unindexed is [Indexed] without the index.
type Unindexed struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
}

// TableName implements [schema.Tabler].
func (Unindexed) TableName() string { return "boxes" }

// IndexedMarked is [Indexed] whose rows are deleted softly. Two of its indexes count deleted rows.
type IndexedMarked struct {
	ID       int64
	TreeID   int64  `pathlock:"tree" gorm:"index:box_where,priority:1;uniqueIndex:box_name,priority:1"`
	ParentID *int64 `pathlock:"parent" gorm:"uniqueIndex:box_name,priority:2"`
	Name     string `pathlock:"name" gorm:"size:100;uniqueIndex:box_name,priority:3"`
	Path     string `pathlock:"path" gorm:"size:500;index:box_where,priority:2"`
	Deleted  gorm.DeletedAt
}

// TableName implements [schema.Tabler].
func (IndexedMarked) TableName() string { return "boxes" }

// UnindexedMarked is [IndexedMarked] without its indexes.
type UnindexedMarked struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Deleted  gorm.DeletedAt
}

// TableName implements [schema.Tabler].
func (UnindexedMarked) TableName() string { return "boxes" }

// checkFollowed checks that advice which is followed stays followed: once its statements have run,
// programs whose model is as it was, or as the advice has it, start and find and add nothing.
func checkFollowed(t *testing.T, fresh func(*testing.T) Database) {
	for _, c := range []struct {
		name          string
		before, after any
		// remove are the indexes that have to go from the model before the next start.
		remove []string
	}{
		{"the index over tree and path", &Indexed{}, &Unindexed{}, nil},
		{"indexes of a table with deleted rows", &IndexedMarked{}, &UnindexedMarked{}, []string{"box_name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := fresh(t)
			w := newSchemaWorld(t, d, gormplugin.Model(c.before))
			w.must(w.db.AutoMigrate(c.before)) // GORM's own
			if w.db.Migrator().HasColumn(c.before, "deleted") {
				w.exec("INSERT INTO boxes (tree_id, parent_id, name, path, deleted) VALUES (1, 7, 'a', '/a', '2001-01-01 00:00:00')")
				w.exec("INSERT INTO boxes (tree_id, parent_id, name, path, deleted) VALUES (1, 8, 'a', '/a', '2001-01-01 00:00:00')")
			}
			_ = gormplugin.AutoMigrate(w.db) // it returns what only a removal mends
			var advised int
			for _, f := range w.findings() {
				for _, statement := range f.Statements {
					w.exec(statement)
				}
				if strings.Contains(f.Advice, "remove the index from the model") {
					advised++
				}
			}
			if advised != 1+len(c.remove) {
				t.Errorf("%d findings say that the index has to go from the model, want %d", advised, 1+len(c.remove))
			}
			before := w.indexesOf("boxes")
			models := []any{c.after}
			if c.remove == nil {
				models = []any{c.before, c.after}
			}
			for _, model := range models {
				next := newSchemaWorld(t, d, gormplugin.Model(model))
				next.must(gormplugin.AutoMigrate(next.db))
				if found := next.findings(); found != nil {
					t.Errorf("%T: found %v", model, found)
				}
				if after := next.indexesOf("boxes"); !slices.Equal(after, before) {
					t.Errorf("%T: the next start has made %q of the indexes %q", model, after, before)
				}
			}
			// In a new table, the model that follows the advice needs no more of it.
			w.must(w.db.Migrator().DropTable("boxes"))
			next := newSchemaWorld(t, d, gormplugin.Model(c.after))
			next.must(gormplugin.AutoMigrate(next.db))
			if found := next.findings(); slices.ContainsFunc(found, func(f treeschema.Finding) bool { return f.Table != "" }) {
				t.Error(found)
			}
		})
	}
}

// indexesOf returns the names of a table's indexes, sorted.
func (w *schemaWorld) indexesOf(table string) (names []string) {
	w.Helper()
	query := map[string]string{
		"mysql":    "SELECT DISTINCT index_name AS name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?",
		"postgres": "SELECT indexname AS name FROM pg_indexes WHERE tablename = ?",
		"sqlite":   "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?",
	}[w.db.Name()]
	w.must(w.db.Raw(query+" ORDER BY 1", table).Scan(&names).Error)
	return names
}
