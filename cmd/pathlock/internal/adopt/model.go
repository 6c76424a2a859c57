package adopt

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// flags are those of pathlock fsck, without those at their defaults. For a shell, patterns are
// quoted, too.
func flags(t treetable.Table, shell bool) string {
	usual := fsck.DefaultTable("")
	text, defaults := "--table "+quoted(t.Table, shell), maps.Collect(usual.Flags)
	for flag, value := range t.Flags {
		is, space := *value, " "
		if is == *defaults[flag] {
			continue
		}
		if flag == "tree-column" && t.SingleTree != "" {
			flag, is = "single-tree", t.SingleTree
		}
		if is == "" || is[0] == '-' { // behind a space, it would be a flag
			space = "="
		}
		text += " --" + flag + space + quoted(is, shell)
	}
	for _, l := range t.Leaves {
		text += " --leaves " + quoted(leafFlag(l), true)
	}
	return text
}

// leafFlag is the value of --leaves for a table.
func leafFlag(l treetable.Table) string {
	usual := treetable.Table{Key: "id", Name: "name"}
	text, mark, defaults := l.Table, "?", maps.Collect(usual.Flags)
	for option, is := range l.Flags {
		if *is != *defaults[option] {
			text, mark = text+mark+option+"="+strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B", ";", "%3B", " ", "%20").Replace(*is), "&"
		}
	}
	return text
}

// quoted quotes a word for a shell, if necessary.
func quoted(word string, patterns bool) string {
	plain := regexp.MustCompile(`^[\w./:,=*~-]*$`)
	if plain.MatchString(word) && (!patterns || !strings.ContainsAny(word, "*~")) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Names of tables may begin with a prefix that many share, and end in a word that says nothing
// more.
var (
	beginning = regexp.MustCompile(`(?i)^(sys|system|t|tb|tbl|oc|zt|zp|ps|wp|mdl|app|base)_`)
	ending    = regexp.MustCompile(`(?i)_(tree|hierarchy|info|table|entity|entities)$`)
	hump      = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// thing is what the rows of a table are, in snake case.
func thing(table string) string {
	name := table[strings.LastIndex(table, ".")+1:]
	name = strings.ToLower(hump.ReplaceAllString(name, "${1}_$2"))
	for short := beginning.ReplaceAllString(name, ""); short != name; short = beginning.ReplaceAllString(name, "") {
		name = short
	}
	return ending.ReplaceAllString(name, "")
}

// treeName is the id of the only tree of a table: the last word of its name.
func treeName(table string) string {
	name := thing(table)
	name = name[strings.LastIndex(name, "_")+1:]
	switch {
	case name == "dept":
		return "departments"
	case strings.HasSuffix(name, "s"):
		return name
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

// typeName is the name of the model.
func typeName(table string) string {
	name := goName(thing(table))
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "ss"), !strings.HasSuffix(name, "s"):
		return name
	}
	return strings.TrimSuffix(name, "s")
}

// initialisms are in capitals in names of fields; GORM knows them.
var initialisms = regexp.MustCompile(`^(API|GUID|HTML|HTTPS?|ID|IP|JSON|SQL|UID|UI|URI|URL|UUID|XML)$`)

// goName is the name of a field, from which GORM makes the column's.
func goName(column string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(column, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if upper := strings.ToUpper(part); initialisms.MatchString(upper) {
			part = upper
		}
		first, size := utf8.DecodeRuneInString(part)
		b.WriteString(string(unicode.ToUpper(first)) + part[size:])
	}
	text := b.String()
	if first, _ := utf8.DecodeRuneInString(text); unicode.IsUpper(first) { // or else Go does not export it
		return text
	}
	return "Column" + text
}

// snake matches names of columns that GORM makes of the names of fields.
var snake = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// tags are the tags of the fields that pathlock has to know, the option that says the same, and the
// hook that fills one of them.
func (s *shape) tags() (fields []string) {
	var named []string
	for _, role := range treetable.Roles {
		column := *role.Column(&s.Table)
		if column == "" || role.Tag == "" || role.Tag == "deleted" && !s.isTagged() {
			continue
		}
		fields = append(fields, s.field(column, fmt.Sprintf("pathlock:%q", role.Tag+s.option(role))))
		name := goName(strings.Replace(role.Tag, "idpath", "id_path", 1))
		if named = append(named, fmt.Sprintf("%s: %q", name, column)); s.option(role) != "" {
			named = append(named, fmt.Sprintf("%s%s: %q", name, goName(role.Option), *role.Value(&s.Table)))
		}
	}
	fields = append(fields, "or, for a model without tags, the option gormplugin.Columns{"+strings.Join(named, ", ")+"}")
	if s.pair != nil {
		fields = append(fields, fmt.Sprintf(`func (m *%s) BeforeCreate(*gorm.DB) error { m.%s = fmt.Sprint(m.%s, ":", m.%s); return nil } // or add this to the model's own BeforeCreate; the fields of %s and %s may have other names`,
			typeName(s.Table.Table), goName(s.Tree), goName(s.pair[0]), goName(s.pair[1]), s.pair[0], s.pair[1]))
	}
	return fields
}

// isTimestamp reports whether the deletion mark is a time, as gorm.DeletedAt and soft_delete write
// it, which needs no tag. The latter has no NULL.
func (s *shape) isTimestamp() bool {
	if s.of.kind(s.Deleted) == dialect.Time {
		return true
	}
	whole := strings.Contains(strings.ToLower(s.of.columns[s.Deleted].Type), "int") && !strings.Contains(strings.ToLower(s.of.columns[s.Deleted].Type), "tiny")
	return whole && !slices.Contains(s.of.cells[s.Deleted], cell{}) && regexp.MustCompile(`(?i)(at|time|on)$`).MatchString(s.Deleted)
}

// isTagged reports whether the deletion mark needs a tag, as its type does not say enough.
func (s *shape) isTagged() bool {
	return s.Deleted != "" && (s.DeletedWhen != "" || !s.isTimestamp())
}

// option is the part of a tag after the role, such as ",form:/0/*/*/".
func (s *shape) option(role treetable.Role) string {
	if role.Value == nil || *role.Value(&s.Table) == "" {
		return ""
	}
	return "," + role.Option + *role.Value(&s.Table)
}

// field is what a tag is for: a new field of the model, or what to add to the one that the program
// has. It states a size only if the column gets another one.
func (s *shape) field(column, tag string) string {
	c, there := s.column(column), !slices.Contains(s.addedNames(), column)
	typ := cmp.Or(map[dialect.ColumnKind]string{dialect.Number: "int64", dialect.Bytes: "[]byte"}[s.of.kind(column)], "string")
	if column == s.Parent && typ != "[]byte" {
		typ = "*" + typ
	}
	var settings []string
	if !there && !snake.MatchString(column) {
		settings = append(settings, "column:"+column)
	}
	if column == s.Parent && typ == "[]byte" && !bool(c.Nullable) {
		settings = append(settings, "not null") // or else the plugin writes NULL at the top
	}
	if s.of.kind(column) == dialect.Text && c.Length > 0 && (!there || c.Length != s.of.columns[column].Length) {
		settings = append(settings, fmt.Sprintf("size:%d", c.Length))
	}
	if len(settings) > 0 {
		tag = fmt.Sprintf("gorm:%q ", strings.Join(settings, ";")) + tag
	}
	if there {
		return fmt.Sprintf("add to the field of column %s: %s", column, tag)
	}
	return fmt.Sprintf("%s %s `json:\"-\" %s`", goName(column), typ, tag)
}

// options are those of gormplugin.New.
func (s *shape) options() (options remarks) {
	model, single := "&"+typeName(s.Table.Table)+"{}", ""
	if s.SingleTree != "" {
		single = fmt.Sprintf(", gormplugin.SingleTree(%q)", s.SingleTree)
	}
	options.say(true, "gormplugin.Model(%s%s)", model, single)
	for _, l := range s.Leaves {
		options.say(true, "gormplugin.Leaf(&%s{}, %s)", typeName(l.Table), model)
	}
	options.say(s.of.stated.Alias != "", "plugin.ResolverBy(%s, %q), for the middleware", model, s.of.stated.Alias)
	return options
}

// lostFound are the flags for a lost+found's values in other columns: a text of its own, the value
// of the tree's rows, or the value of all rows that have others below them.
func (s *shape) lostFound() (flags string) {
	s = s.sample()
	folders := make(map[int]bool)
	for _, above := range s.links(s.liveRows()) {
		folders[above] = true
	}
	for _, name := range s.of.order {
		c, values, value := s.of.columns[name], make(map[string]bool), ""
		if s.Has(name) || s.of.cells[name] == nil || c.Expression != "" {
			continue
		}
		for i := range folders {
			value = s.of.cells[name][i].String
			values[value] = true
		}
		kind, isUnique := s.of.kind(name), name == s.of.stated.Alias || slices.Contains(s.of.Unique, name)
		switch {
		case isUnique && (kind == dialect.Text || kind == dialect.UUID):
			value = "{unique}"
		case !bool(c.Required), kind == dialect.Time, len(values) == 1 && slices.Contains([]string{"", "0", "false"}, value):
			continue // fsck has a value
		case s.isKept(name):
			value = "{row}"
		case len(values) != 1:
			continue
		}
		flags += " --lost-found " + quoted(name+"="+value, true)
	}
	return flags
}
