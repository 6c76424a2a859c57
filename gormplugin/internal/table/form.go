package table

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Nodes, plans and locks have paths as "/a/b". The columns, and the fields of the caller's structs,
// have them in the form that the model states: see package treetable.

// options are what may follow a role in a field's tag: the form of a path, and the value that a
// mark has in deleted rows. One comes last, and goes to the end: a form may have commas.
var options = map[string]string{"path": "form:", "idpath": "form:", "deleted": "when:"}

// roleOf returns what a field's tag says that the field is, and the option that follows.
func roleOf(f *schema.Field) (role, option string, err error) {
	tag := f.Tag.Get(tagName)
	role, option, more := strings.Cut(tag, ",")
	option, ok := strings.CutPrefix(option, options[role])
	if more && (!ok || option == "" || options[role] == "") {
		return role, "", fmt.Errorf("gormplugin: %s.%s: the tag `%s:%q` is none: a path may have a form, as in `%s:%q`, and a mark of deletion a value, as in `%s:%q`",
			f.Schema.Name, f.Name, tagName, tag, tagName, "path,form:/*/*", tagName, "deleted,when:archived")
	}
	return role, option, nil
}

// formOf returns how a column of paths, nil for none, spells them: as is stated, or else tagged.
func formOf(parsed *schema.Schema, f *schema.Field, stated string) (form treetable.Form, err error) {
	if f == nil {
		if stated != "" {
			return form, fmt.Errorf("gormplugin: %s: the form %q is that of no column", parsed.Name, stated)
		}
		return form, nil
	}
	if stated == "" {
		if _, stated, err = roleOf(f); err != nil {
			return form, err
		}
	}
	if strings.EqualFold(f.TagSettings["TYPE"], "ltree") {
		return form, fmt.Errorf("gormplugin: %s: %s cannot be an ltree, which has neither the order of its bytes nor substrings: make it a text with the form *.*", parsed.Name, f.Name)
	}
	if form, err = treetable.ParseForm(stated); err != nil {
		return form, fmt.Errorf("gormplugin: %s: %s: %w", parsed.Name, f.Name, err)
	}
	return form, nil
}

// Stated returns what a caller states by the text of a path column: "" for none.
func Stated(form treetable.Form, text string) string {
	if text == "" {
		return ""
	}
	return form.Read(text)
}

// Rebased is what a column holds of a row at or below a path, once the path is another one.
func (t *Table) Rebased(form treetable.Form, column clause.Column, from, to string) clause.Expression {
	// SUBSTRING and SUBSTR count characters, from 1.
	moved := func(from, to string) clause.Expression {
		return clause.Expr{SQL: t.Dialect.Join, Vars: []any{to, column, utf8.RuneCountInString(from) + 1}}
	}
	if before, _ := form.Below(from); before == "" && form.Trail == "" {
		// Nothing stands between the empty text of a root row and what is stored of its children.
		after, _ := form.Below(to)
		return clause.Expr{SQL: "CASE WHEN " + t.Dialect.Length + "(?) = 0 THEN ? ELSE ? END", Vars: []any{column, form.Print(to), moved("", after)}}
	}
	return moved(form.Print(from), form.Print(to))
}
