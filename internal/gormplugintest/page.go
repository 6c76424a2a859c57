package gormplugintest

import (
	"math/rand/v2"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// Page is a tree with associations of every kind, a hook, columns in a prefixed embedded struct,
// and foreign keys.
type Page struct {
	ID       int64
	Place    Place   `gorm:"embedded;embeddedPrefix:at_"`
	Above    *Page   `gorm:"foreignKey:ParentID"`
	ParentID *int64  `pathlock:"parent"`
	Children []Page  `gorm:"foreignKey:ParentID"`
	Blocks   []Block `gorm:"foreignKey:PageID;constraint:OnDelete:CASCADE"`
	AuthorID *int64
	Author   *Author
	Labels   []Label  `gorm:"many2many:page_labels"`
	Remarks  []Remark `gorm:"polymorphic:On"`
	// Meta is stored as JSON.
	Meta map[string]string `gorm:"serializer:json"`
	// Hook, if set, is what the hooks do before GORM looks at the row.
	Hook func(p *Page, tx *gorm.DB) error `gorm:"-"`
}

// Place is a part of a model with the columns of the tree.
type Place struct {
	SiteID int64  `pathlock:"tree" gorm:"uniqueIndex:page_sibling;index:page_path,priority:1"`
	Name   string `pathlock:"name" gorm:"size:100;default:untitled"`
	Path   string `pathlock:"path" gorm:"size:500;index:page_path,priority:2;uniqueIndex:page_sibling"`
}

// BeforeSave implements GORM's hook.
func (p *Page) BeforeSave(tx *gorm.DB) error {
	if p.Hook != nil {
		return p.Hook(p, tx)
	}
	return nil
}

// Block is a leaf below a page.
type Block struct {
	ID     int64
	PageID int64 `pathlock:"parent" gorm:"uniqueIndex:block_sibling"`
	Page   *Page
	Name   string `pathlock:"name" gorm:"size:100;uniqueIndex:block_sibling"`
}

// Author is what a page belongs to.
type Author struct {
	ID   int64
	Name string
}

// Label is what pages have many of, and the other way round.
type Label struct {
	ID   int64
	Name string
}

// Remark hangs on rows of any table.
type Remark struct {
	ID     int64
	OnID   int64
	OnType string
	Text   string
}

// pages is the table of [Page].
var pages = treeTable{name: "pages", key: "id", tree: "at_site_id", parent: "parent_id", label: "at_name", path: "at_path"}

// pageTree is the tree that the forms on pages begin with; a block hangs below /a/b.
const pageTree = "/a /a/b /d"

// plantPages makes pageTree.
func plantPages(w *world) {
	w.Helper()
	first := rand.Int64N(1 << 50)
	w.root, w.ids = &Suite{ID: first, PlanID: first}, map[string]int64{}
	raw := gormplugin.AllowRawWrites(w.db)
	for i, path := range strings.Fields(pageTree) {
		id, slash := first+int64(i), strings.LastIndexByte(path, '/')
		var parent any
		if above, ok := w.ids[path[:slash]]; ok {
			parent = above
		}
		w.ids[path] = id
		w.must(raw.Exec("INSERT INTO pages (id, at_site_id, parent_id, at_name, at_path) VALUES (?, ?, ?, ?, ?)", id, first, parent, path[slash+1:], path).Error)
	}
	w.must(raw.Exec("INSERT INTO blocks (id, page_id, name) VALUES (?, ?, 't')", first, w.ids["/a/b"]).Error)
}

// page returns a planted row with the path, with its associations.
func (w *world) page(path string) *Page {
	w.Helper()
	p := new(Page)
	w.must(w.db.Preload("Children").Preload("Blocks").Preload("Above").Take(p, w.ids[path]).Error)
	return p
}

// named is the place of a new page.
func named(name string) Place { return Place{Name: name} }
