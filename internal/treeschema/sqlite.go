package treeschema

import (
	"regexp"
	"strings"
)

// literals are texts in SQL, and inOrder says in which order an index has an expression.
var (
	literals = regexp.MustCompile(`'(?:''|[^'])*'`)
	inOrder  = regexp.MustCompile(`( collate \w+)?( asc| desc)?$`)
)

// readSQLiteTexts reads what SQLite has in the statements alone that made the table and its
// indexes.
func (c *catalogue) readSQLiteTexts() {
	var key index
	made := literals.ReplaceAllString(normal(c.Text), "''")
	for name, col := range c.columns {
		stated := regexp.MustCompile(`(?:^|\W)` + regexp.QuoteMeta(strings.ToLower(name)) + ` [^,]*collate (nocase|rtrim)`).FindStringSubmatch(made)
		if stated != nil && col.Equality != "" {
			col.Collation = strings.ToUpper(stated[1])
			col.Equality = map[string]equality{"NOCASE": loose, "RTRIM": padded}[col.Collation]
			c.columns[name] = col
		}
		if col.Key > 0 {
			key = append(key, part{Index: "PRIMARY", Unique: true, Column: name})
		}
	}
	for _, i := range c.indexes {
		definition, rest := group(normal(i[0].Text))
		for n, text := range split(definition, ",") {
			if n < len(i) && i[n].Column == "" {
				i[n].Expression = inOrder.ReplaceAllString(text, "")
			}
		}
		_, i[0].Condition, _ = strings.Cut(rest, "where ")
	}
	if len(key) > 0 {
		// An INTEGER PRIMARY KEY has no index of its own: the table is the index.
		c.indexes = append(c.indexes, key)
	}
}
