package gormplugintest

import (
	"database/sql"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// Suite is a tree with everything that a model can have.
type Suite struct {
	ID       int64
	PlanID   int64          `pathlock:"tree" gorm:"index:path,priority:1"`
	ParentID *int64         `pathlock:"parent"`
	Name     string         `pathlock:"name" gorm:"size:255"`
	Path     string         `pathlock:"path" gorm:"size:500;index:path,priority:2"`
	Level    int            `pathlock:"depth"`
	Version  int64          `pathlock:"version"`
	Fence    uint64         `pathlock:"fence"`
	Note     string         `gorm:"size:255"`
	Deleted  gorm.DeletedAt `gorm:"index"`
}

// Case is a leaf below a suite or, in the state machine, a row of any other table whose keys are
// numbers. It has path columns, of which each table names those that there can be.
type Case struct {
	ID      int64
	SuiteID int64  `pathlock:"parent" gorm:"uniqueIndex:case_sibling"`
	Name    string `pathlock:"name" gorm:"size:255;uniqueIndex:case_sibling"`
	Body    string
	Path    string `pathlock:"path" gorm:"-"`
	Column  string `gorm:"column:path_column;size:500"`
	IDs     string `gorm:"column:ids;size:700"`
	Level   int
	Version int64 `pathlock:"version"`
}

// Folder is a tree without a root row, whose rows are deleted for good.
type Folder struct {
	ID       string         `gorm:"primaryKey;size:36"`
	DriveID  string         `pathlock:"tree" gorm:"size:36;index:folder_path,priority:1"`
	ParentID sql.NullString `pathlock:"parent" gorm:"size:36"`
	Name     string         `pathlock:"name" gorm:"size:100"`
	Path     string         `pathlock:"path" gorm:"size:500;index:folder_path,priority:2"`
}

// Other is a table that is not guarded.
type Other struct {
	ID   int64
	Name string
}

// Namespace is that of the trees of [Suite].
const Namespace = "gormplugintest"

// NewPlugin returns a plugin for all the models.
func NewPlugin(locker *pathlock.Locker, opts ...gormplugin.Option) *gormplugin.Plugin {
	models := []gormplugin.Option{
		gormplugin.Model(&Suite{}, gormplugin.Namespace(Namespace)),
		gormplugin.Leaf(&Case{}, &Suite{}, gormplugin.Columns{Path: "path_column"}),
		gormplugin.Model(&Folder{}),
		gormplugin.Model(&Page{}),
		gormplugin.Leaf(&Block{}, &Page{}),
		gormplugin.Model(&Entry{}),
		gormplugin.Model(&Shelf{}),
		gormplugin.Model(&Dept{}),
		gormplugin.Model(&Topic{}),
		gormplugin.Model(&Stated{}),
		gormplugin.Model(&file{}),
	}
	return gormplugin.New(locker, append(models, opts...)...)
}

// Models returns the models that a plugin of [NewPlugin] guards.
func Models() []any {
	return []any{&Suite{}, &Case{}, &Folder{}, &Page{}, &Block{}, &Entry{}, &Shelf{}, &Dept{}, &Topic{}, &Stated{}, &file{}}
}
