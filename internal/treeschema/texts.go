package treeschema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Types that return what was written. A CHAR loses or gains spaces at its end, which the plugin
// knows of keys; so it knows the spelling of a uuid. On SQLite the affinity decides, not the name.
var (
	keepsTexts = regexp.MustCompile(`^(varchar|character varying|(tiny|medium|long)?text)\b`)
	keepsNames = regexp.MustCompile(keepsTexts.String() + `|^(\w+\.)?citext$`)
	keepsKeys  = regexp.MustCompile(keepsNames.String() + `|^(char|character|uuid|varbinary)\b`)
	keepsMarks = regexp.MustCompile(keepsKeys.String() + `|^(enum|set)\b`)
	rounds     = regexp.MustCompile(`(?i)float|real|double`)
)

// checkTexts checks how names, paths, keys and marks are stored and compared, and how long names
// and paths may be.
func (c *checker) checkTexts() {
	for _, text := range c.table.texts() {
		col, isPath, keeps := c.columns[text.Column], text != c.table.Name, keepsNames
		if isPath {
			keeps = keepsTexts
		}
		if !c.isKept(col, keeps) {
			c.foundText(Type, Unsafe, col, "it may return another text than was written, and paths are wrong then", c.retyped(col, max(col.Length, int64(text.Size))))
			continue
		}
		severity, why := c.compares(col, isPath)
		c.foundText(Collation, severity, col, why, c.retyped(col, col.Length))
		if col.Length > 0 && col.Length < int64(text.Size) {
			c.found(withStatement(Finding{
				Severity: Warning, Check: Length, Missing: fmt.Sprintf("the column %s has room for %d characters, the model says %d", col.Name, col.Length, text.Size),
				Why: "the plugin accepts what the database refuses", Advice: fmt.Sprintf("make it longer, up to %d characters", text.Size),
			}, c.retyped(col, int64(text.Size))))
		}
	}
	for _, key := range append([]string{c.table.Tree, c.table.Parent}, c.table.Key...) {
		col := c.columns[key]
		isText := slices.ContainsFunc(c.table.Keys, func(text Text) bool { return text.Column == key })
		switch severity, why := c.comparesKeys(col); {
		case rounds.MatchString(col.Type), isText && !c.isKept(col, keepsKeys):
			c.foundText(Type, Unsafe, col, "it may return another key than was written", "")
		default:
			c.foundText(Collation, severity, col, why, "")
		}
	}
	for _, m := range c.table.Marks {
		if col := c.columns[m.Column]; strings.HasPrefix(m.When, "'") && !c.isKept(col, keepsMarks) {
			c.foundText(Type, Unsafe, col, "it may hold other values equal to "+m.When, "")
		}
	}
}

// isKept reports whether a column returns the texts that were written.
func (c *checker) isKept(col Column, types *regexp.Regexp) bool {
	if c.dialect == dialect.SQLite {
		// A UUID with its hyphens is no number.
		return col.Equality != "" || strings.EqualFold(col.Type, "uuid") && types != keepsTexts && types != keepsNames
	}
	return types.MatchString(col.Type)
}

// withStatement puts a statement in the place of the advice, if there is one.
func withStatement(f Finding, statement string) Finding {
	if statement != "" {
		f.Statements, f.Advice = []string{statement}, ""
	}
	return f
}

// foundText reports a column whose type or collation is wrong, unless there is no why.
func (c *checker) foundText(check Check, severity Severity, col Column, why, statement string) {
	if why == "" {
		return
	}
	missing := fmt.Sprintf("the column %s has the type %s", col.Name, col.Type)
	if check == Collation && col.Collation != "" {
		missing = fmt.Sprintf("the column %s has the collation %s", col.Name, col.Collation)
	}
	advice := map[*dialect.Dialect]string{
		dialect.MySQL:      "give it a VARCHAR with the collation " + BinaryMySQL(c.Version) + ", and keep the rest of its definition; the columns that foreign keys connect with it need the same",
		dialect.PostgreSQL: `give it a text type with the collation "C", and the columns that are compared with it`, dialect.SQLite: "recreate the table with TEXT there, see https://sqlite.org/lang_altertable.html#otheralter",
	}[c.dialect]
	if rounds.MatchString(col.Type) {
		advice = "give it a type of whole numbers or of texts, as the model says"
	}
	c.found(withStatement(Finding{Severity: severity, Check: check, Missing: missing, Why: why, Advice: advice}, statement))
}

// compares says what is wrong with how a name or a path compares.
func (c *checker) compares(col Column, isPath bool) (Severity, string) {
	switch col.Equality {
	case exact:
		return Warning, ""
	case padded:
		return Warning, "it treats texts as equal that differ in trailing spaces"
	case unordered:
		if isPath {
			return Warning, `the rows below a path are no range in its order, for queries that do not say COLLATE "C" themselves`
		}
		return Warning, ""
	case loose:
		if isPath && c.isMySQL() && !c.table.IsLeaf {
			return Unsafe, "in its order a path can come before its parent's, and a rename then misses it"
		}
		return Warning, "it treats texts as equal that differ"
	default:
		return Warning, ""
	}
}

// comparesKeys says what is wrong with how a key, a parent or a tree's id compares.
func (c *checker) comparesKeys(col Column) (Severity, string) {
	switch padding := col.Equality == padded; {
	case col.Equality != loose && !padding:
		return Warning, ""
	case padding && (strings.HasPrefix(col.Type, "char") || col.Charset != "" && col.Charset != "utf8mb4"):
		// The plugin leaves the spaces at the end of a CHAR out, too, and MySQL has no stricter
		// collation for other character sets.
		return Warning, ""
	case col.Name == c.table.Tree:
		return Unsafe, "two trees whose ids it treats as equal are changed together, but locked apart"
	default:
		return Warning, "the database finds a row by other spellings of its key, which the plugin refuses"
	}
}

// retyped returns the statement that gives a column of texts a length, 0 for none, and a binary
// collation; "" if it would not keep the rest of the definition.
func (c *checker) retyped(col Column, length int64) string {
	inKey := slices.ContainsFunc(c.foreignKeys, func(k foreignKey) bool { return slices.Contains(k.columns, col.Name) })
	if !bool(col.Plain) || col.Equality == "" || inKey {
		return ""
	}
	table := "ALTER TABLE " + c.dialect.Quote(c.table.Table)
	switch {
	case c.dialect == dialect.PostgreSQL:
		typ := "text"
		if length > 0 {
			typ = fmt.Sprintf("varchar(%d)", length)
		}
		return fmt.Sprintf(`%s ALTER COLUMN %s TYPE %s COLLATE "C"`, table, c.dialect.QuotePart(col.Name), typ)
	case c.isMySQL():
		typ := col.Type
		if length > 0 {
			typ = fmt.Sprintf("varchar(%d)", length)
		}
		null := ""
		if !col.Nullable {
			null = " NOT NULL"
		}
		return fmt.Sprintf("%s MODIFY %s %s CHARACTER SET utf8mb4 COLLATE %s%s", table, c.dialect.QuotePart(col.Name), typ, BinaryMySQL(c.Version), null)
	default:
		return ""
	}
}
