package treeschema

import (
	"context"
	"slices"
	"strings"
)

// sqlite is SQLite, whatever the driver.
type sqlite struct{}

func (sqlite) quote(name string) string { return quoteParts(name, `"`) }

func (sqlite) name() string { return "sqlite" }

func (sqlite) cast(literal string, _ column) string { return literal }

func (sqlite) bytes(text string) string { return text + " COLLATE BINARY" }

// read describes a table.
func (s sqlite) read(ctx context.Context, conn Conn, table string) (*physical, error) {
	p := newPhysical()
	_, name := splitName(table)
	things, err := askFile(ctx, conn, "sqlite_schema.sql")
	if err != nil {
		return nil, err
	}
	made := make(map[string]string)
	for _, r := range things {
		p.names[strings.ToLower(r["name"])] = true
		switch {
		case strings.EqualFold(r["name"], name) && (r["type"] == "table" || r["type"] == "view"):
			// Temporary tables come last, and hide others.
			p.exists = true
			made[""] = r["text"]
			p.shape.temporary = r.is("is_temporary")
			p.shape.kind = ""
			if all := tokens(r["text"]); r["type"] == "view" {
				p.shape.kind = "a view"
			} else if len(all) > 1 && strings.EqualFold(all[1], "VIRTUAL") {
				p.shape.kind = "a virtual table"
			}
		case r["type"] == "index":
			made[r["name"]] = r["text"]
		case r["type"] == "trigger":
			p.triggers = append(p.triggers, trigger{name: r["name"], table: r["tbl"]})
		}
	}
	if !p.exists || p.shape.kind != "" || p.shape.temporary {
		return p, nil
	}
	p.shape.conflicts = conflictClauses(made[""])
	columns, err := askFile(ctx, conn, "sqlite_columns.sql", name)
	if err != nil {
		return nil, err
	}
	s.readColumns(p, columns, made[""])
	indexes, err := askFile(ctx, conn, "sqlite_indexes.sql", name)
	if err != nil {
		return nil, err
	}
	s.readIndexes(p, indexes, made)
	keys, err := askFile(ctx, conn, "sqlite_keys.sql", name)
	if err != nil {
		return nil, err
	}
	settings, err := askFile(ctx, conn, "sqlite_settings.sql")
	if err == nil && settings[0].is("foreign_keys") {
		s.readKeys(p, keys)
	}
	return p, err
}

// conflictClauses returns the clauses of a table's constraints that turn a conflict into something
// else than a plain error.
func conflictClauses(made string) []string {
	var clauses []string
	entries, _ := definitions(made)
	for _, entry := range entries {
		notNull := false
		for i, token := range entry {
			notNull = notNull && !strings.EqualFold(token, "UNIQUE") && !strings.EqualFold(token, "KEY") || strings.EqualFold(token, "NOT")
			if !strings.EqualFold(token, "CONFLICT") || i+1 == len(entry) {
				continue
			}
			switch action := strings.ToUpper(entry[i+1]); action {
			case "REPLACE":
				if !notNull {
					clauses = append(clauses, "ON CONFLICT REPLACE")
				}
			case "IGNORE", "ROLLBACK", "FAIL":
				clauses = append(clauses, "ON CONFLICT "+action)
			}
		}
	}
	return clauses
}

// readColumns reads the columns. Their collations and expressions come from the statement that made
// the table.
func (sqlite) readColumns(p *physical, records []record, made string) {
	entries, _ := definitions(made)
	var key []part
	for _, r := range records {
		c := column{name: r["name"], typ: r["type"], nullable: r.is("nullable"), collation: "BINARY"}
		for _, entry := range entries {
			if len(entry) == 0 || !strings.EqualFold(bare(entry[0]), c.name) {
				continue
			}
			if collation := bare(after(entry, "COLLATE")); collation != "" {
				c.collation = strings.ToUpper(collation)
			}
			if expression := after(entry, "AS"); parenthesised(expression) {
				c.generated = expression
			}
			break
		}
		// Any other type may turn a name into a number: https://sqlite.org/datatype3.html, section
		// 3.1.
		keeps := func(word string) bool { return strings.Contains(strings.ToUpper(c.typ), word) }
		if !slices.ContainsFunc([]string{"CHAR", "CLOB", "TEXT", "BLOB"}, keeps) && c.typ != "" {
			c.collation = ""
		}
		switch c.collation {
		case "BINARY":
			c.equal = exactly
		case "RTRIM":
			c.equal = padded
		}
		c.asKey = c.equal
		p.columns[c.name] = c
		if r["pk"] != "0" {
			key = append(key, part{column: c.name})
		}
	}
	if len(key) > 0 {
		// An INTEGER PRIMARY KEY has no index of its own: the table is the index.
		p.indexes = append(p.indexes, index{name: "PRIMARY", unique: true, primary: true, parts: key})
	}
}

// readIndexes reads the indexes. Their expressions and conditions come from the statements that
// made them.
func (sqlite) readIndexes(p *physical, records []record, made map[string]string) {
	var entries [][]string
	number := 0
	for _, r := range records {
		if last := p.indexes[max(len(p.indexes)-1, 0):]; len(last) == 0 || last[0].name != r["name"] {
			var rest []string
			entries, rest = definitions(made[r["name"]])
			number = 0
			p.indexes = append(p.indexes, index{
				name: r["name"], unique: r.is("is_unique"), primary: r["origin"] == "pk", constraint: r["origin"] == "u",
				predicate: condition(rest),
			})
		}
		pt := part{column: r["column_name"], ordered: r["collation_name"] == "BINARY"}
		if pt.column == "" && number < len(entries) {
			pt.expression = expression(entries[number])
		}
		number++
		last := &p.indexes[len(p.indexes)-1]
		last.parts = append(last.parts, pt)
	}
}

// condition returns the condition of a WHERE clause.
func condition(rest []string) string {
	if len(rest) > 1 && strings.EqualFold(rest[0], "WHERE") {
		return strings.Join(rest[1:], " ")
	}
	return ""
}

// expression returns an entry of an index without its direction.
func expression(entry []string) string {
	if n := len(entry) - 1; n > 0 && (strings.EqualFold(entry[n], "ASC") || strings.EqualFold(entry[n], "DESC")) {
		entry = entry[:n]
	}
	return strings.Join(entry, " ")
}

// readKeys reads the foreign keys. The caller has checked that the connection enforces them.
func (sqlite) readKeys(p *physical, records []record) {
	keys := make(map[string]*foreignKey)
	var order []string
	p.referring = make(map[string]bool)
	for _, r := range records {
		p.referring[r["column_name"]] = true
		actions := "ON DELETE " + r["on_delete"] + " ON UPDATE " + r["on_update"]
		if !actsByItself(actions) {
			continue
		}
		if keys[r["id"]] == nil {
			keys[r["id"]] = &foreignKey{actions: actions, empties: empties(actions)}
			order = append(order, r["id"])
		}
		keys[r["id"]].columns = append(keys[r["id"]].columns, r["column_name"])
	}
	for _, id := range order {
		p.foreignKeys = append(p.foreignKeys, *keys[id])
	}
}

// server checks the library's version and the connection's settings.
func (sqlite) server(ctx context.Context, conn Conn) ([]Finding, error) {
	records, err := askFile(ctx, conn, "sqlite_settings.sql")
	if err != nil {
		return nil, err
	}
	settings := records[0]
	var findings []Finding
	// GORM learns the keys of new rows by RETURNING, which came with 3.35.
	if f, ok := tooOld("SQLite", settings["version"], []int{3, 35}); !ok {
		findings = append(findings, f)
	}
	if settings["busy_timeout"] == "0" {
		findings = append(findings, Finding{
			Severity: Warning, Check: BusyTimeout, Missing: "busy_timeout is 0", Why: "a writer that meets another one fails at once instead of waiting",
			Advice: "add _pragma=busy_timeout(10000) to the DSN, and _txlock=immediate",
		})
	}
	if settings["query_only"] == "1" {
		findings = append(findings, Finding{
			Severity: Unsafe, Check: ReadOnly, Missing: "query_only is on", Why: "nothing can be written", Advice: "take query_only out of the DSN",
		})
	}
	switch settings["journal_mode"] {
	case "wal", "memory":
		// A database in memory cannot have a write-ahead log.
	case "off":
		findings = append(findings, Finding{
			Severity: Unsafe, Check: Journal, Missing: "journal_mode is off", Why: "nothing can be rolled back",
			Statements: []string{"PRAGMA journal_mode = WAL"}, Advice: "take journal_mode out of the DSN",
		})
	default:
		findings = append(findings, Finding{
			Severity: Warning, Check: Journal, Missing: "journal_mode is " + settings["journal_mode"], Why: "readers and the writer keep each other waiting",
			Statements: []string{"PRAGMA journal_mode = WAL"},
		})
	}
	return findings, nil
}
