package gormplugintest

import "gorm.io/gorm"

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
	// Stem is a tree whose keys are texts, and whose parents cannot be NULL.
	Stem struct {
		ID       string  `gorm:"primaryKey;size:100"`
		TreeID   int64   `pathlock:"tree"`
		ParentID *string `pathlock:"parent" gorm:"size:100;not null"`
		Name     string  `pathlock:"name" gorm:"size:100"`
		Path     string  `pathlock:"path" gorm:"size:500"`
	}
	// Menu is a row of the only tree of its table. Its title is not bound to any rule.
	Menu struct {
		ID       int64
		ParentID int64  `pathlock:"parent"`
		Title    string `gorm:"size:100"`
		Paths    string `pathlock:"idpath,form:/0/*/*/" gorm:"size:300"`
		Version  int64  `pathlock:"version"`
		Deleted  gorm.DeletedAt
	}
	// Department is a row of the only tree of its table.
	Department struct {
		ID       int64
		ParentID *int64 `pathlock:"parent"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path,form:/*/*/" gorm:"size:500"`
		Version  int64  `pathlock:"version"`
		Deleted  gorm.DeletedAt
	}
)
