package treeschema

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// postgres is PostgreSQL.
type postgres struct{}

func (postgres) quote(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
	}
	return strings.Join(parts, ".")
}

func (postgres) cast(literal string, c column) string {
	return "CAST(" + literal + " AS " + c.typ + ")"
}

func (postgres) bytes(text string) string { return text + ` COLLATE "C"` }

// read describes a table.
func (g postgres) read(ctx context.Context, conn Conn, table string) (*physical, error) {
	p := &physical{columns: make(map[string]column), names: make(map[string]bool)}
	found, err := askFile(ctx, conn, "postgres_table.sql", g.quote(table))
	if err != nil || len(found) == 0 {
		return p, err
	}
	p.exists = true
	oid, schema := found[0]["oid"], found[0]["schema_oid"]
	for _, read := range []struct {
		file, of string
		into     func(*physical, []record)
	}{
		{"postgres_columns.sql", oid, g.readColumns},
		{"postgres_indexes.sql", oid, g.readIndexes},
		{"postgres_keys.sql", oid, g.readKeys},
		{"postgres_triggers.sql", schema, readTriggers},
		{"postgres_names.sql", schema, readNames},
	} {
		records, err := askFile(ctx, conn, read.file, read.of)
		if err != nil {
			return nil, err
		}
		read.into(p, records)
	}
	return p, nil
}

// readColumns reads the columns.
func (postgres) readColumns(p *physical, records []record) {
	for _, r := range records {
		length, _ := strconv.Atoi(r["length"])
		c := column{name: r["name"], typ: r["type"], length: length, nullable: r.is("nullable"), collation: r["collation_name"], generated: r["expression"]}
		switch {
		case !slices.Contains([]string{"text", "varchar"}, r["type_name"]), !r.is("is_deterministic"):
			// citext ignores case, char(n) trailing spaces.
			c.equal = loosely
		case c.collation == "C", c.collation == "POSIX", c.collation == "ucs_basic":
			c.equal = exactly
		default:
			c.equal = ordered
		}
		p.columns[c.name] = c
		p.names[strings.ToLower(c.name)] = true
	}
}

// readIndexes reads the indexes.
func (postgres) readIndexes(p *physical, records []record) {
	for _, r := range records {
		if n := len(p.indexes); n == 0 || p.indexes[n-1].name != r["name"] {
			p.indexes = append(p.indexes, index{
				name: r["name"], unique: r.is("is_unique"), primary: r.is("is_primary"), nullsEqual: r.is("nulls_equal"),
				constraint: r.is("is_constraint"), idle: r.is("idle"), predicate: r["predicate"],
			})
		}
		last := &p.indexes[len(p.indexes)-1]
		last.parts = append(last.parts, part{
			column: r["column_name"], expression: r["expression"],
			// The plugin asks for the order by its name, and that of the same order under another name is not used.
			ordered: r["collation_name"] == "C" && r.is("usual_order"),
		})
	}
}

// postgresActions matches the actions in a foreign key's definition.
var postgresActions = regexp.MustCompile(` ON (?:DELETE|UPDATE) (?:CASCADE|SET NULL|SET DEFAULT)(?: \([^)]*\))?`)

// readKeys reads the foreign keys.
func (postgres) readKeys(p *physical, records []record) {
	for _, r := range records {
		actions := strings.Join(postgresActions.FindAllString(r["definition"], -1), "")
		if !actsByItself(actions) {
			continue
		}
		p.foreignKeys = append(p.foreignKeys, foreignKey{
			name: r["name"], columns: strings.Split(r["column_names"], ","), actions: strings.TrimSpace(actions), empties: empties(actions),
			plain: postgresActions.ReplaceAllString(r["definition"], ""),
		})
	}
}

// readTriggers reads the schema's triggers.
func readTriggers(p *physical, records []record) {
	for _, r := range records {
		p.triggers = append(p.triggers, trigger{name: r["name"], table: r["tbl"], before: r.is("before_row"), text: r["text"]})
	}
}

// readNames reads the names that are taken.
func readNames(p *physical, records []record) {
	for _, r := range records {
		p.names[strings.ToLower(r["name"])] = true
	}
}

// server checks the server's version and the session's settings.
func (postgres) server(ctx context.Context, conn Conn) ([]Finding, error) {
	records, err := askFile(ctx, conn, "postgres_settings.sql")
	if err != nil {
		return nil, err
	}
	settings := records[0]
	var findings []Finding
	if f, ok := tooOld("PostgreSQL", settings["version"], []int{13}); !ok {
		findings = append(findings, f)
	}
	if settings["encoding"] != "UTF8" {
		findings = append(findings, Finding{
			Severity: Unsafe, Check: Encoding, Missing: fmt.Sprintf("the database's encoding is %s", settings["encoding"]),
			Why: "it cannot hold every name, or counts bytes where the plugin counts characters", Advice: "make the database anew with ENCODING 'UTF8'",
		})
	}
	if settings["isolation"] == "repeatable read" {
		findings = append(findings, postgresIsolation(settings))
	}
	return findings, nil
}

// postgresIsolation says where REPEATABLE READ was made the usual level.
func postgresIsolation(settings record) Finding {
	f := Finding{
		Severity: Unsafe, Check: Isolation, Missing: "transactions are REPEATABLE READ",
		Why:    "an UPDATE of a subtree would miss the rows that are newer than its snapshot, so that the plugin refuses to write",
		Advice: "connect anew",
	}
	const set = " SET default_transaction_isolation = 'read committed'"
	switch settings["source"] {
	case "client", "session":
		f.Advice = "take default_transaction_isolation out of the DSN, or set it to read committed or serializable"
	case "user":
		f.Statements = []string{"ALTER ROLE " + settings["role_name"] + set}
	case "database user":
		f.Statements = []string{"ALTER ROLE " + settings["role_name"] + " IN DATABASE " + settings["database_name"] + set}
	default:
		f.Statements = []string{"ALTER DATABASE " + settings["database_name"] + set}
	}
	return f
}
