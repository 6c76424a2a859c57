package treeschema

import (
	"context"
	"strconv"
	"strings"
)

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
			Column: r["column_name"], Expression: r["expression"], Prefix: prefix,
			Ordered: true, // as the column is, which is judged by itself
		})
	}
	return err
}

// mysqlEquality says how a column of MySQL or MariaDB compares texts.
func mysqlEquality(c Column) equality {
	switch {
	case c.Collation == "":
		return ""
	case strings.HasSuffix(c.Collation, "_bin") && strings.HasPrefix(c.Type, "char("):
		return padded
	case c.Collation == "utf8mb4_nopad_bin", c.Collation == "utf8mb4_0900_bin":
		return exact
	case strings.HasSuffix(c.Collation, "_bin"):
		return padded
	default:
		return loose
	}
}
