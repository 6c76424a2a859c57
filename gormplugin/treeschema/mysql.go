package treeschema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mysql is MySQL and MariaDB.
type mysql struct{}

// mysqlIndexBytes is the longest key of an InnoDB index.
// See https://dev.mysql.com/doc/refman/8.4/en/innodb-limits.html.
const mysqlIndexBytes = 3072

// mysqlCharacter is the number of bytes that an index reserves for a character of utf8mb4.
const mysqlCharacter = 4

func (mysql) quote(name string) string { return quoteParts(name, "`") }

// quote1 quotes a name without a schema, which may contain dots.
func (mysql) quote1(name string) string { return quoteIn(name, "`") }

func (mysql) name() string { return "mysql" }

func (mysql) cast(literal string, c column) string {
	if c.collation == "" {
		return literal
	}
	return "CONVERT(" + literal + " USING " + c.charset + ") COLLATE " + c.collation
}

func (mysql) bytes(text string) string { return "CAST(" + text + " AS BINARY)" }

// read describes a table.
func (m mysql) read(ctx context.Context, conn Conn, table string) (*physical, error) {
	schema, name := splitName(table)
	p := newPhysical()
	found, err := askFile(ctx, conn, "mysql_table.sql", schema, name, schema, name)
	if err != nil || len(found) == 0 {
		return p, err
	}
	t := found[0]
	p.exists, p.schema, p.engine, p.binary = true, t["table_schema"], t["engine"], BinaryMySQL(t["version"])
	p.mariaDB = strings.Contains(t["version"], "MariaDB")
	p.short, p.partitionedBy = slices.Contains([]string{"COMPACT", "REDUNDANT"}, strings.ToUpper(t["format"])), t["partitioned_by"]
	p.lax, p.versioned = !isStrict(t["mode"]), t["kind"] == "SYSTEM VERSIONED"
	switch kind := t["kind"]; kind {
	case "BASE TABLE", "SYSTEM VERSIONED":
	default:
		p.shape.kind = "a " + strings.ToLower(kind)
		return p, nil
	}
	return p, errors.Join(
		m.readColumns(ctx, conn, p, schema, name),
		m.readIndexes(ctx, conn, p, schema, name),
		m.readKeys(ctx, conn, p, name),
		m.readDefinition(ctx, conn, p, table),
		m.readLinked(ctx, conn, p, name),
		m.readTriggers(ctx, conn, p),
	)
}

// BinaryMySQL returns the collation by which texts differ if their bytes do, on a server of a
// version.
func BinaryMySQL(version string) string {
	if strings.Contains(version, "MariaDB") {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}

// readColumns reads what the catalogue says of the columns.
func (mysql) readColumns(ctx context.Context, conn Conn, p *physical, schema, name string) error {
	records, err := askFile(ctx, conn, "mysql_columns.sql", schema, name)
	if err != nil {
		return err
	}
	for _, r := range records {
		// The longest types have more characters than an int of 32 bits counts.
		length, _ := strconv.ParseInt(r["length"], 10, 64)
		bytes, _ := strconv.ParseInt(r["bytes"], 10, 64)
		if strings.HasSuffix(r["type"], "text") {
			// The limit is in bytes, far beyond what a path needs.
			length = 0
		}
		c := column{
			name: r["name"], typ: r["type"], length: int(min(length, 1<<30)), bytes: int(min(bytes, 1<<30)), nullable: r.is("nullable"),
			collation: r["collation_name"], charset: r["charset_name"], generated: strings.ReplaceAll(r["expression"], `\'`, `'`),
		}
		if c.bytes == 0 {
			c.bytes = fixedBytes(c.typ)
		}
		switch c.generated {
		case "ROW START":
			c.generated = "" // the server writes it, and it is no expression
		case "ROW END":
			c.generated, c.rowEnd = "", true
		}
		if typ, _, ok := strings.Cut(c.typ, " /*"); ok && strings.Contains(c.typ, compressedColumn) {
			c.typ, c.compressed = typ, true
		}
		switch {
		case strings.HasPrefix(c.typ, "char(") && strings.HasSuffix(c.collation, "_bin"):
			c.equal = padded
		case c.collation == "utf8mb4_nopad_bin", c.collation == "utf8mb4_0900_bin":
			c.equal = exactly
		case strings.HasSuffix(c.collation, "_bin"):
			c.equal = padded
		}
		c.asKey = c.equal
		if c.equal == padded && (strings.HasPrefix(c.typ, "char(") || c.collation == p.keyCollation(c.charset)) {
			// A CHAR never ends with spaces, and MySQL has no stricter collation for other
			// character sets.
			c.asKey = exactly
		}
		p.columns[c.name] = c
		p.names[strings.ToLower(c.name)] = true
	}
	return nil
}

// readIndexes reads the indexes.
func (mysql) readIndexes(ctx context.Context, conn Conn, p *physical, schema, name string) error {
	records, err := askFile(ctx, conn, "mysql_indexes.sql", schema, name)
	if err != nil {
		return err
	}
	for _, r := range records {
		if n := len(p.indexes); n == 0 || p.indexes[n-1].name != r["index_name"] {
			p.indexes = append(p.indexes, index{
				name: r["index_name"], unique: r["non_unique"] == "0", primary: r["index_name"] == "PRIMARY",
				fulltext: r["index_type"] == "FULLTEXT",
				idle:     r["index_type"] != "BTREE" || r["is_visible"] == "NO" || r["ignored"] == "YES",
			})
			p.names[strings.ToLower(r["index_name"])] = true
		}
		prefix, _ := strconv.Atoi(r["sub_part"])
		last := &p.indexes[len(p.indexes)-1]
		last.parts = append(last.parts, part{
			column: r["column_name"], expression: strings.ReplaceAll(r["expression"], `\'`, `'`), prefix: prefix,
			ordered: p.columns[r["column_name"]].equal >= padded,
		})
	}
	for k, i := range p.indexes {
		// MariaDB adds the ROW END column to every unique index of a system-versioned table.
		if n := len(i.parts) - 1; i.unique && n > 0 && p.columns[i.parts[n].column].rowEnd {
			p.indexes[k].parts = i.parts[:n]
		}
	}
	return nil
}

// readDefinition reads the columns' definitions from SHOW CREATE TABLE. The catalogue has them in
// no form that can be written back.
func (m mysql) readDefinition(ctx context.Context, conn Conn, p *physical, table string) error {
	records, err := ask(ctx, conn, "SHOW CREATE TABLE "+m.quote(table))
	if err != nil {
		return fmt.Errorf("treeschema: %w", err)
	}
	if len(records) == 0 {
		return nil
	}
	statement := records[0]["create table"]
	p.shape.temporary = strings.HasPrefix(statement, "CREATE TEMPORARY")
	for _, entry := range mysqlEntries(statement) {
		if len(entry) < 2 {
			continue
		}
		if c, ok := p.columns[mysqlName(entry[0])]; ok {
			c.definition, c.defined = mysqlRest(entry[2:]), true
			p.columns[c.name] = c
		}
	}
	return nil
}

// actsByItself reports whether a foreign key's actions change rows.
func actsByItself(actions string) bool {
	return strings.Contains(actions, "CASCADE") || empties(actions)
}

// empties reports whether a foreign key's actions overwrite columns.
func empties(actions string) bool {
	return strings.Contains(actions, "SET NULL") || strings.Contains(actions, "SET DEFAULT")
}

// fixedBytes returns the number of bytes that an index takes for a value of a type with a fixed
// length: whole numbers, dates, and MariaDB's uuid.
func fixedBytes(typ string) int {
	name, _, _ := strings.Cut(typ, "(")
	name, _, _ = strings.Cut(name, " ")
	switch name {
	case "tinyint":
		return 1
	case "smallint":
		return 2
	case "mediumint":
		return 3
	case "int":
		return 4
	case "uuid":
		return 16
	default:
		return 8
	}
}
