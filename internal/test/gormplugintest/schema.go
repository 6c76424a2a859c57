package gormplugintest

import (
	_ "embed"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// Branch is a tree whose model says nothing about indexes: [gormplugin.AutoMigrate] makes them.
type Branch struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Note     string
	Deleted  gorm.DeletedAt
}

// Fruit is a leaf below a branch.
type Fruit struct {
	ID       int64
	BranchID int64  `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Route    string `pathlock:"path" gorm:"size:700"`
	Code     string `gorm:"size:20"`
}

// Plain is a tree as short as it can be written: no sizes, and ids that are texts.
type Plain struct {
	ID       string  `gorm:"primaryKey"`
	TreeID   string  `pathlock:"tree"`
	ParentID *string `pathlock:"parent"`
	Name     string  `pathlock:"name"`
	Path     string  `pathlock:"path"`
	IDs      string  `pathlock:"idpath" gorm:"column:ids"`
}

// flaw is something that is wrong with a schema that [gormplugin.AutoMigrate] made.
type flaw struct {
	// want are the findings, in their order: how bad, and which check. One that gives no statement
	// is in words.
	name, want string
	// statements make it.
	statements []string
}

//go:embed flaws.sql
var flawsInSQL string

// flaws are all the things that can be wrong with a table of a database.
func flaws(database string) (all []flaw) {
	_, list, _ := strings.Cut(flawsInSQL, "\n\n")
	here := false
	for line := range strings.Lines(list) {
		line = strings.TrimSuffix(line, "\n")
		title, isTitle := strings.CutPrefix(line, "-- # ")
		more, isMore := strings.CutPrefix(line, "-- and ")
		names, isNames := strings.CutPrefix(line, "-- ")
		switch last := len(all) - 1; {
		case isTitle:
			name, want, _ := strings.Cut(title, ": ")
			all = append(all, flaw{name: name, want: want})
		case isMore:
			all[last].want += ", " + more
		case isNames:
			here = slices.Contains(strings.Fields(names), database)
		case here && line != "":
			all[last].statements = append(all[last].statements, line)
		}
	}
	return slices.DeleteFunc(all, func(f flaw) bool { return f.statements == nil })
}
