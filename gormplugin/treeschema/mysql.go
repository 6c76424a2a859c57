package treeschema

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mysql is MySQL and MariaDB.
type mysql struct{}

// mysqlIndexBytes is the longest key of an InnoDB index.
// See https://dev.mysql.com/doc/refman/8.4/en/innodb-limits.html.
const mysqlIndexBytes = 3072

// mysqlCharacter is how many bytes a character of utf8mb4 counts for in an index.
const mysqlCharacter = 4

func (mysql) quote(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = "`" + strings.ReplaceAll(part, "`", "``") + "`"
	}
	return strings.Join(parts, ".")
}

func (mysql) cast(literal string, _ column) string { return literal }

func (mysql) bytes(text string) string { return "CAST(" + text + " AS BINARY)" }

// read describes a table.
func (m mysql) read(ctx context.Context, conn Conn, table string) (*physical, error) {
	schema, name := splitName(table)
	p := &physical{columns: make(map[string]column), names: make(map[string]bool)}
	found, err := askFile(ctx, conn, "mysql_table.sql", schema, name)
	if err != nil || len(found) == 0 {
		return p, err
	}
	p.exists, p.engine, p.binary = true, found[0]["engine"], "utf8mb4_0900_bin"
	if strings.Contains(found[0]["version"], "MariaDB") {
		p.binary = "utf8mb4_nopad_bin"
	}
	return p, errors.Join(
		m.readColumns(ctx, conn, p, schema, name),
		m.readIndexes(ctx, conn, p, schema, name),
		m.readDefinition(ctx, conn, p, table),
		m.readTriggers(ctx, conn, p, schema),
	)
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
			// Limited by bytes, far beyond what a path needs.
			length = 0
		}
		c := column{
			name: r["name"], typ: r["type"], length: int(min(length, 1<<30)), bytes: int(min(bytes, 1<<30)), nullable: r.is("nullable"),
			collation: r["collation_name"], generated: strings.ReplaceAll(r["expression"], `\'`, `'`),
		}
		if c.bytes == 0 {
			c.bytes = 8 // whole numbers and dates
		}
		switch {
		case strings.HasPrefix(c.typ, "char(") && strings.HasSuffix(c.collation, "_bin"):
			c.equal = padded
		case c.collation == "utf8mb4_nopad_bin", c.collation == "utf8mb4_0900_bin":
			c.equal = exactly
		case strings.HasSuffix(c.collation, "_bin"):
			c.equal = padded
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
				idle: r["index_type"] != "BTREE" || r["is_visible"] == "NO" || r["ignored"] == "YES",
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
	return nil
}

var (
	// mysqlColumn matches a text column's line of SHOW CREATE TABLE: its name, type, character set and collation, and the rest.
	mysqlColumn = regexp.MustCompile("^`((?:[^`]|``)+)` ([a-z]+(?:\\(\\d+\\))?)((?: CHARACTER SET \\w+)?(?: COLLATE \\w+)?)(.*)$")
	// mysqlKey matches a foreign key's line: its name, columns, what it refers to, and the actions.
	mysqlKey = regexp.MustCompile("^CONSTRAINT `((?:[^`]|``)+)` (FOREIGN KEY \\(([^)]*)\\) REFERENCES [^(]+\\([^)]*\\))(.*)$")
)

// readDefinition reads from SHOW CREATE TABLE what the catalogue has in no form that can be written back.
func (m mysql) readDefinition(ctx context.Context, conn Conn, p *physical, table string) error {
	records, err := ask(ctx, conn, "SHOW CREATE TABLE "+m.quote(table))
	if err != nil {
		return fmt.Errorf("treeschema: %w", err)
	}
	if len(records) == 0 {
		return nil
	}
	for line := range strings.SplitSeq(records[0]["create table"], "\n") {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		if match := mysqlColumn.FindStringSubmatch(line); match != nil {
			name := strings.ReplaceAll(match[1], "``", "`")
			if c, ok := p.columns[name]; ok {
				c.definition = match[4]
				p.columns[name] = c
			}
		}
		match := mysqlKey.FindStringSubmatch(line)
		if match == nil || !actsByItself(match[4]) {
			continue
		}
		var columns []string
		for c := range strings.SplitSeq(match[3], ",") {
			columns = append(columns, strings.Trim(strings.TrimSpace(c), "`"))
		}
		p.foreignKeys = append(p.foreignKeys, foreignKey{
			name: match[1], columns: columns, actions: strings.TrimSpace(match[4]), empties: empties(match[4]), plain: match[2],
		})
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

// readTriggers reads the schema's triggers.
func (mysql) readTriggers(ctx context.Context, conn Conn, p *physical, schema string) error {
	records, err := askFile(ctx, conn, "mysql_triggers.sql", schema)
	for _, r := range records {
		p.triggers = append(p.triggers, trigger{name: r["name"], table: r["tbl"], before: r.is("before_row"), text: r["text"]})
	}
	return err
}

// server checks the server's version and the session's settings.
func (m mysql) server(ctx context.Context, conn Conn) ([]Finding, error) {
	records, err := askFile(ctx, conn, "mysql_settings.sql")
	if err != nil {
		return nil, err
	}
	settings := records[0]
	var findings []Finding
	if f, ok := m.version(settings["version"]); !ok {
		findings = append(findings, f)
	}
	strict := func(mode string) bool {
		return slices.ContainsFunc(strings.Split(mode, ","), func(m string) bool {
			return m == "STRICT_TRANS_TABLES" || m == "STRICT_ALL_TABLES"
		})
	}
	if !strict(settings["sql_mode"]) {
		f := Finding{
			Severity: Unsafe, Check: StrictMode, Missing: fmt.Sprintf("sql_mode is %q, which is not strict", settings["sql_mode"]),
			Why:    "a name or path that does not fit into its column is cut off silently",
			Advice: "add sql_mode=%27STRICT_TRANS_TABLES%2CNO_ENGINE_SUBSTITUTION%27 to the DSN",
		}
		if !strict(settings["server_mode"]) {
			f.Statements = []string{"SET GLOBAL sql_mode = CONCAT_WS(',', 'STRICT_TRANS_TABLES', NULLIF(@@GLOBAL.sql_mode, ''))"}
			f.Advice = "connect anew; or " + f.Advice
		}
		findings = append(findings, f)
	}
	// MySQL 8 says transaction_isolation, MariaDB before 11.1 tx_isolation.
	records, err = ask(ctx, conn, "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')")
	if err != nil {
		return nil, fmt.Errorf("treeschema: %w", err)
	}
	if len(records) > 0 && records[0]["value"] == "READ-UNCOMMITTED" {
		variable := records[0]["variable_name"]
		findings = append(findings, Finding{
			Severity: Warning, Check: Isolation, Missing: "the isolation level is READ UNCOMMITTED",
			Why:        "statements are planned on rows that may never be committed, and fail when that shows",
			Statements: []string{"SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED"},
			Advice:     "connect anew; where the DSN sets the level, write " + variable + "=%27READ-COMMITTED%27 there",
		})
	}
	return findings, nil
}

// version checks the server's version.
func (mysql) version(text string) (Finding, bool) {
	// 8.0.17 brought utf8mb4_0900_bin.
	product, least := "MySQL", []int{8, 0, 17}
	if strings.Contains(text, "MariaDB") {
		product, least = "MariaDB", []int{10, 6}
	}
	return tooOld(product, text, least)
}
