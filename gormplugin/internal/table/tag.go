package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treetable"
	"gorm.io/gorm/schema"
)

// roleOf parses a field's tag: the role of the column, and the value of the option that follows.
// The option extends to the end of the tag, because a form may contain commas.
func roleOf(f *schema.Field) (role, value string, err error) {
	tag := f.Tag.Get(tagName)
	role, option, more := strings.Cut(tag, ",")
	before := ""
	if i := slices.IndexFunc(treetable.Roles, func(r treetable.Role) bool { return r.Tag == role }); i >= 0 {
		before = treetable.Roles[i].Option
	}
	value, ok := strings.CutPrefix(option, before)
	if more && (!ok || value == "" || before == "") {
		return role, "", fmt.Errorf("gormplugin: %s.%s: the tag `%s:%q` is invalid: besides the role, a tag may have an option of that role, as in %q, %q, %q and %q",
			f.Schema.Name, f.Name, tagName, tag, "path,form:/*/*", "deleted,when:archived", "depth,top:0", "parent,top:-1")
	}
	return role, value, nil
}

// formOf returns how a column of paths, nil for none, spells them: as is stated, or else tagged.
func formOf(parsed *schema.Schema, f *schema.Field, stated string) (form treetable.Form, err error) {
	if f == nil {
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
