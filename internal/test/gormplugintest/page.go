package gormplugintest

import "gorm.io/gorm"

// Page is a tree with associations of every kind, a hook, columns in a prefixed embedded struct,
// and foreign keys.
type Page struct {
	ID       int64
	Place    Place   `gorm:"embedded;embeddedPrefix:at_"`
	Above    *Page   `gorm:"foreignKey:ParentID"`
	ParentID *int64  `pathlock:"parent"`
	Children []Page  `gorm:"foreignKey:ParentID"`
	Blocks   []Block `gorm:"foreignKey:PageID;constraint:OnDelete:CASCADE"`
	Labels   []Label `gorm:"many2many:page_labels"`
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
	Under  string `pathlock:"path,form:parent:/*/*" gorm:"size:500"`
}

// Label is what pages have many of, and the other way round.
type Label struct {
	ID   int64
	Name string
}
