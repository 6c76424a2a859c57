package treeschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/sqldialect"
)

// checkTexts checks how names, paths and keys are compared, and how long names and paths may be.
func (c *checker) checkTexts() {
	for _, text := range c.table.texts() {
		col, isPath := c.columns[text.Column], text != c.table.Name
		c.checkCollation(col, func() (Severity, string) { return c.compares(col, isPath) }, c.retyped(col, col.Length))
		if col.Length > 0 && col.Length < int64(text.Size) {
			c.found(withStatement(Finding{
				Severity: Warning, Check: Length, Missing: fmt.Sprintf("the column %s has room for %d characters, the model says %d", col.Name, col.Length, text.Size),
				Why: "the plugin accepts what the database refuses", Advice: fmt.Sprintf("make it longer, up to %d characters", text.Size),
			}, c.retyped(col, int64(text.Size))))
		}
	}
	for _, key := range append([]string{c.table.Tree, c.table.Parent}, c.table.Key...) {
		col := c.columns[key]
		c.checkCollation(col, func() (Severity, string) { return c.comparesKeys(col) }, "")
	}
}

// withStatement puts a statement in the place of the advice, if there is one.
func withStatement(f Finding, statement string) Finding {
	if statement != "" {
		f.Statements, f.Advice = []string{statement}, ""
	}
	return f
}

// checkCollation reports a column of texts that does not compare as it should.
func (c *checker) checkCollation(col Column, judged func() (Severity, string), statement string) {
	severity, why := judged()
	if why == "" {
		return
	}
	missing := fmt.Sprintf("the column %s has the type %s", col.Name, col.Type)
	if col.Collation != "" {
		missing = fmt.Sprintf("the column %s has the collation %s", col.Name, col.Collation)
	}
	advice := map[*sqldialect.Dialect]string{
		sqldialect.MySQL:      "give it a VARCHAR with the collation " + BinaryMySQL(c.Version) + ", and keep the rest of its definition; the columns that foreign keys connect with it need the same",
		sqldialect.PostgreSQL: `give it a text type with the collation "C", and the columns that are compared with it`, sqldialect.SQLite: "recreate the table with TEXT there, see https://sqlite.org/lang_altertable.html#otheralter",
	}[c.dialect]
	c.found(withStatement(Finding{Severity: severity, Check: Collation, Missing: missing, Why: why, Advice: advice}, statement))
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
		if c.isMySQL() {
			return Unsafe, "it counts bytes, but the plugin counts characters"
		}
		return Warning, "its type may turn a text into a number"
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
	case c.dialect == sqldialect.PostgreSQL:
		typ := "text"
		if length > 0 {
			typ = fmt.Sprintf("varchar(%d)", length)
		}
		return fmt.Sprintf(`%s ALTER COLUMN %s TYPE %s COLLATE "C"`, table, c.dialect.QuotePart(col.Name), typ)
	case c.isMySQL() && !strings.HasPrefix(col.Type, "char("):
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
