package gormplugintest

import (
	"cmp"
	"strings"

	"gorm.io/gorm"
)

// Dept is a tree whose paths of ids begin with a number that is no row's, and end in a slash.
type Dept struct {
	ID       int64
	FirmID   int64  `pathlock:"tree" gorm:"uniqueIndex:dept_sibling;index:dept_ids,priority:1"`
	ParentID int64  `pathlock:"parent" gorm:"uniqueIndex:dept_sibling"`
	Name     string `pathlock:"name" gorm:"size:100;uniqueIndex:dept_sibling"`
	DeptPath string `pathlock:"idpath,form:/0/*/*/" gorm:"size:200;index:dept_ids,priority:2"`
	Level    uint   `pathlock:"depth,top:0"`
}

// Topic is a tree whose paths begin with a name, in one form that ends in the separator and in one
// that does not.
type Topic struct {
	ID       int64
	WikiID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path,form:*.*" gorm:"size:500"`
	IDs      string `pathlock:"idpath,form:*,*," gorm:"column:ids;size:200"`
	Level    int    `pathlock:"depth,top:0"`
	Version  int64  `pathlock:"version"`
	Deleted  gorm.DeletedAt
}

// The models of further forms.
type (
	code struct {
		ID     string  `gorm:"primaryKey;size:36"`
		Tree   int64   `pathlock:"tree"`
		Parent *string `pathlock:"parent,top:#" gorm:"size:36"`
		Name   string  `pathlock:"name" gorm:"size:100"`
		Path   string  `pathlock:"path,form:*/*/" gorm:"size:500"`
		IDs    string  `pathlock:"idpath,form:/0/*/*" gorm:"size:700"`
	}
	file struct {
		ID     int64
		Tree   int64  `pathlock:"tree"`
		Parent *int64 `pathlock:"parent"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Folder string `pathlock:"path,form:parent:/*/*" gorm:"size:500"`
		Above  string `pathlock:"idpath,form:parent:*.*" gorm:"size:200"`
		Level  int    `pathlock:"depth"`
		Note   string
		Gone   gorm.DeletedAt
	}
	volume struct {
		ID     int64
		Tree   int64  `pathlock:"tree"`
		Parent int64  `pathlock:"parent"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Above  string `pathlock:"idpath,form:parent:0,*,*" gorm:"size:200"`
		Level  int    `pathlock:"depth"`
	}
	region struct {
		ID     int64
		Tree   int64  `pathlock:"tree"`
		Parent int    `pathlock:"parent,top:-1"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Path   string `pathlock:"path,form:all:*:*:" gorm:"size:500"`
	}
)

// spelling is how a column of a model spells paths, as its tag says.
type spelling struct {
	lead, separator, trail string
	ofParent               bool
}

// spellingIn reads a tag: what the column is, and how it spells paths.
func spellingIn(tag string) (role string, s spelling) {
	role, form, _ := strings.Cut(tag, ",form:")
	role, _, _ = strings.Cut(role, ",top:")
	return role, spellingOf(form)
}

// spellingOf reads a form.
func spellingOf(form string) (s spelling) {
	form, s.ofParent = strings.CutPrefix(cmp.Or(form, "/*/*"), "parent:")
	parts := strings.Split(form, "*")
	s.lead, s.separator, s.trail = parts[0], parts[1], parts[2]
	return s
}

// states reports whether a text says where a row is: the path of a root row states none.
func (s spelling) states(text string) bool { return text != "" && (s.ofParent || text != s.of("")) }

// of spells a path, as "/a/b".
func (s spelling) of(path string) string {
	names := strings.Split(path, "/")[1:]
	if s.ofParent && len(names) > 0 {
		names = names[:len(names)-1]
	}
	switch {
	case len(names) > 0:
		return s.lead + strings.Join(names, s.separator) + s.trail
	case s.trail != "":
		return s.lead
	default:
		return strings.TrimSuffix(s.lead, s.separator)
	}
}
