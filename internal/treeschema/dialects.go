package treeschema

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// mysqlEquality says how a column of MySQL or MariaDB compares texts.
func mysqlEquality(c Column) equality {
	switch {
	case !strings.HasSuffix(c.Collation, "_bin"):
		return loose
	case !isChar(c) && (c.Collation == "utf8mb4_nopad_bin" || c.Collation == "utf8mb4_0900_bin"):
		return exact
	default:
		return padded
	}
}

// readMySQLIndexes reads the indexes of MySQL and MariaDB.
func (c *catalogue) readMySQLIndexes(ctx context.Context, conn Conn, schema, name string) error {
	records, err := ask(ctx, conn, "mysql_indexes.sql", schema, name)
	for _, r := range records {
		// MariaDB adds the ROW END column to every unique index of a system-versioned table.
		if c.columns[r["column_name"]].Expression == "ROW END" {
			continue
		}
		prefix, _ := strconv.Atoi(r["sub_part"])
		c.addPart(part{
			Index: r["index_name"], Unique: r["non_unique"] == "0", Idle: flag(r["index_type"] != "BTREE" || r["is_visible"] == "NO" || r["ignored"] == "YES"),
			Column: r["column_name"], Prefix: prefix,
			Ordered: true, // as the column is, which is judged by itself
		})
	}
	return err
}

// asWritten returns an expression as it was written. MySQL shows the UTF-8 of a name or a text in
// it as if each byte were a character of ISO 8859-1.
func asWritten(expression string) string {
	if text, err := charmap.ISO8859_1.NewEncoder().String(expression); err == nil && utf8.ValidString(text) {
		return text
	}
	return expression
}

// literal matches a text in SQL.
var literal = regexp.MustCompile(`'(?:''|[^'])*'`)

// withoutLiterals returns SQL as [normal] does, with empty texts.
func withoutLiterals(text string) string {
	return literal.ReplaceAllString(normal(text, " "), "''")
}

// readSQLiteTexts reads what SQLite has only in the statements that made the table and its indexes.
func (c *catalogue) readSQLiteTexts() {
	var key index
	made := withoutLiterals(c.Text)
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
		// If no condition is found, the whole statement remains, which is none of the known
		// conditions.
		if _, condition, ok := strings.Cut(normal(i[0].Condition, " "), " where "); ok {
			i[0].Condition = condition
		}
	}
	if len(key) > 0 {
		// An INTEGER PRIMARY KEY has no index of its own: the table is the index.
		c.indexes = append([]index{key}, c.indexes...)
	}
}
