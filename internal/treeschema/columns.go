package treeschema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Types that return what was written. A CHAR loses or gains spaces at its end. For keys, the plugin
// allows for that, and for the spelling of a uuid. On SQLite the affinity decides, not the name.
var (
	keepsTexts = regexp.MustCompile(`^(varchar|character varying|(tiny|medium|long)?text)\b`)
	keepsNames = regexp.MustCompile(keepsTexts.String() + `|^(\w+\.)?citext$`)
	keepsKeys  = regexp.MustCompile(keepsNames.String() + `|^(char|character|uuid|varbinary)\b`)
	keepsMarks = regexp.MustCompile(keepsKeys.String() + `|^(enum|set)\b`)
	rounds     = regexp.MustCompile(`(?i)float|real|double`)
)

// checkColumns checks how names, paths, keys and marks are stored and compared, and how long names
// and paths may be.
func (c *checker) checkColumns() {
	for _, text := range c.table.texts() {
		c.checkText(text, text != c.table.Name)
	}
	for _, key := range []string{c.table.Tree, c.table.Parent, c.table.Key} {
		col := c.columns[key]
		isText := slices.Contains(c.table.TextKeys, key)
		if rounds.MatchString(col.Type) || isText && !c.isKept(col, keepsKeys) {
			c.foundColumn(Type, Unsafe, col, "it may return another key than was written", "")
			continue
		}
		severity, why := c.compares(col, false, true)
		c.foundColumn(Collation, severity, col, why, "")
	}
	for _, m := range c.table.Marks {
		if col := c.columns[m.Column]; strings.HasPrefix(m.When, "'") && !c.isKept(col, keepsMarks) {
			c.foundColumn(Type, Unsafe, col, "it may hold other values equal to "+m.When, "")
		}
	}
}

// checkParent checks that the database can compare the parent's key with the key of the rows above,
// which are in the table of a catalogue.
func (c *checker) checkParent(above *catalogue, key string) {
	parent, up := c.columns[c.table.Parent], above.columns[key]
	if Clash(c.dialect, parent, up) {
		c.found(Finding{
			Check: Collation, Missing: fmt.Sprintf("the column %s has the collation %s, and the key above, %s, has %s", parent.Name, parent.Collation, up.Name, up.Collation),
			Why: "the database refuses to compare the two: writes that go from one to the other fail, and so does pathlock fsck", Advice: "give both the same collation",
		})
	}
}

// Clash reports whether a database refuses to compare the texts of two columns, for their
// collations.
func Clash(d *dialect.Dialect, a, b Column) bool {
	apart := func(c Column) bool {
		return c.Collation != "" && c.Collation != "default" && !strings.HasSuffix(c.Collation, "_bin")
	}
	return d.Collation != nil && a.Collation != b.Collation && a.Charset == b.Charset && apart(a) && apart(b)
}

// checkText checks the column of a name or a path.
func (c *checker) checkText(name string, isPath bool) {
	col, size, keeps := c.columns[name], c.table.Sizes[name], keepsNames
	if isPath {
		keeps = keepsTexts
	}
	if !c.isKept(col, keeps) {
		c.foundColumn(Type, Unsafe, col, "it may return another text than was written, and paths are wrong then", c.retyped(col, max(col.Length, int64(size))))
		return
	}
	severity, why := c.compares(col, isPath, false)
	c.foundColumn(Collation, severity, col, why, c.retyped(col, col.Length))
	if col.Length > 0 && col.Length < int64(size) {
		statement := c.retyped(col, int64(size))
		col.Length = int64(size)
		c.foundOr(statement, col, Finding{
			Check: Length, Missing: fmt.Sprintf("the column %s has room for %d characters, the model says %d", col.Name, col.Length, size),
			Why: "the plugin accepts what the database refuses", Advice: fmt.Sprintf("make it longer, up to %d characters", size),
		})
	}
}

// isKept reports whether a column returns the texts that were written.
func (c *checker) isKept(col Column, types *regexp.Regexp) bool {
	if c.dialect == dialect.SQLite {
		// A UUID with its hyphens is not a number.
		return col.Equality != "" || strings.EqualFold(col.Type, "uuid") && types != keepsTexts && types != keepsNames
	}
	return types.MatchString(col.Type)
}

// foundColumn reports a column whose type or collation is wrong, unless why is empty.
func (c *checker) foundColumn(check Check, severity Severity, col Column, why, statement string) {
	if why == "" {
		return
	}
	missing := fmt.Sprintf("the column %s has the type %s", col.Name, col.Type)
	if check == Collation && col.Collation != "" {
		missing = fmt.Sprintf("the column %s has the collation %s", col.Name, col.Collation)
	}
	advice := map[*dialect.Dialect]string{
		dialect.MySQL:      "give it a VARCHAR with the collation " + dialect.MySQL.Collation(c.Version) + ", and keep the rest of its definition; the columns that foreign keys connect with it need the same",
		dialect.PostgreSQL: `give it a text type with the collation "C", and the columns that are compared with it`, dialect.SQLite: "recreate the table with TEXT there, see https://sqlite.org/lang_altertable.html#otheralter",
	}[c.dialect]
	if rounds.MatchString(col.Type) {
		advice = "give it a type of whole numbers or of texts, as the model says"
	}
	c.foundOr(statement, col, Finding{Severity: severity, Check: check, Missing: missing, Why: why, Advice: advice})
}

// foundOr adds a finding with a statement that gives a column a type of its length, if there is
// one, in the place of the advice. The indexes that come later have to hold what it becomes.
func (c *checker) foundOr(statement string, col Column, f Finding) {
	if statement != "" {
		f.Statements, f.Advice = []string{statement}, ""
		col.Bytes = mysqlCharacter * col.Length
		c.columns[col.Name] = col
	}
	c.found(f)
}

// compares says what is wrong with how a column compares, "" if nothing is.
func (c *checker) compares(col Column, isPath, isKey bool) (severity Severity, why string) {
	switch pads := col.Equality == padded; {
	case c.isMySQL() && c.hasNumbers(col):
		return Warning, "" // every collation has them in one order
	case col.Equality == unordered && isPath:
		return Warning, `the rows below a path are no range in its order, for queries that do not say COLLATE "C" themselves`
	case col.Equality != loose && !pads:
		return Warning, ""
	case isKey && pads && (strings.HasPrefix(col.Type, "char") || col.Charset != "" && col.Charset != "utf8mb4"):
		// The plugin leaves the spaces at the end of a CHAR out, too, and MySQL has no stricter
		// collation for other character sets.
		return Warning, ""
	case isKey && col.Name == c.table.Tree:
		return Unsafe, "two trees whose ids it treats as equal are changed together, but locked separately"
	case isPath && !pads && c.isMySQL() && !c.table.isLeaf():
		return Unsafe, "in its order a path can come before its parent's, and a rename then misses it"
	case isKey:
		return Warning, "the database finds a row by other spellings of its key, which the plugin refuses"
	default:
		return Warning, "it treats texts as equal that differ, if only in trailing spaces"
	}
}

// hasNumbers reports whether a column holds paths of whole numbers.
func (c *checker) hasNumbers(col Column) bool {
	isTextKey := func(column string) bool { return slices.Contains(c.table.TextKeys, column) }
	return col.Name == c.table.IDPath && !isTextKey(c.table.Key) && !isTextKey(c.table.Parent)
}

// retyped returns the statement that gives a column of texts a length, 0 for none, and a binary
// collation; "" if it would not keep the rest of the definition.
func (c *checker) retyped(col Column, length int64) string {
	inKey := slices.ContainsFunc(c.foreignKeys, func(k foreignKey) bool { return k.Column == col.Name })
	if !bool(col.Plain) || col.Equality == "" || inKey {
		return ""
	}
	table, column := c.dialect.Quote(c.table.name()), c.dialect.QuotePart(col.Name)
	switch {
	case length > 0:
		col.Type = fmt.Sprintf("varchar(%d)", length)
	case !c.isMySQL():
		col.Type = "text"
	}
	if !c.isMySQL() {
		return fmt.Sprintf(`ALTER TABLE %s ALTER COLUMN %s TYPE %s COLLATE "C"`, table, column, col.Type)
	}
	col.Charset, col.Collation = "utf8mb4", dialect.MySQL.Collation(c.Version)
	return fmt.Sprintf("ALTER TABLE %s MODIFY %s %s", table, column, col.Definition(c.dialect))
}

// Definition is the column's type as a statement that adds or changes the column has it.
func (c Column) Definition(d *dialect.Dialect) string {
	typ := c.Type
	switch {
	case d == dialect.MySQL && c.Charset != "":
		typ += " CHARACTER SET " + c.Charset + " COLLATE " + c.Collation
	case d == dialect.PostgreSQL && c.Equality != "":
		typ += " COLLATE " + d.QuotePart(cmp.Or(c.Collation, "C"))
	}
	if !c.Nullable {
		typ += " NOT NULL"
	}
	return typ + c.Rest
}
