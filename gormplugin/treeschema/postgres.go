package treeschema

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// postgres is PostgreSQL.
type postgres struct{}

func (postgres) quote(name string) string { return quoteParts(name, `"`) }

func (postgres) name() string { return "postgres" }

func (postgres) cast(literal string, c column) string {
	return "CAST(" + literal + " AS " + c.typ + ")"
}

// bytes implements [dialect]. citext would ignore case in any collation.
func (postgres) bytes(text string) string { return "CAST(" + text + ` AS text) COLLATE "C"` }

// read describes a table.
func (g postgres) read(ctx context.Context, conn Conn, table string) (*physical, error) {
	p := newPhysical()
	found, err := askFile(ctx, conn, "postgres_table.sql", g.quote(table))
	if err != nil || len(found) == 0 {
		return p, err
	}
	p.exists = true
	oid, schema := found[0]["oid"], found[0]["schema_oid"]
	if g.readShape(p, found[0]); p.shape.kind != "" {
		return p, nil
	}
	for _, read := range []struct {
		file string
		args []any
		into func(*physical, []record)
	}{
		{"postgres_columns.sql", []any{oid}, g.readColumns},
		{"postgres_indexes.sql", []any{oid}, g.readIndexes},
		{"postgres_keys.sql", []any{oid}, g.readKeys},
		{"postgres_triggers.sql", nil, readTriggers},
		{"postgres_policies.sql", []any{oid}, readPolicies},
		{"postgres_rules.sql", []any{oid}, readRules},
		{"postgres_names.sql", []any{schema}, readNames},
	} {
		records, err := askFile(ctx, conn, read.file, read.args...)
		if err != nil {
			return nil, err
		}
		read.into(p, records)
	}
	return p, nil
}

// readColumns reads the columns.
func (postgres) readColumns(p *physical, records []record) {
	p.types = digestOf(records, "name", "type", "type_oid", "collation_oid")
	for _, r := range records {
		length, _ := strconv.Atoi(r["length"])
		c := column{name: r["name"], typ: r["type"], length: length, nullable: r.is("nullable"), collation: r["collation_name"], generated: r["expression"], domain: r.is("is_domain"), users: r["users"]}
		switch {
		case !slices.Contains([]string{"text", "varchar"}, r["type_name"]), !r.is("is_deterministic"):
			// citext ignores case, char(n) ignores trailing spaces.
			c.equal = loosely
		case c.collation == "C", c.collation == "POSIX", c.collation == "ucs_basic":
			c.equal = exactly
		default:
			c.equal = ordered
		}
		c.asKey = c.equal
		if r["type_name"] == "bpchar" && r.is("is_deterministic") {
			c.asKey = exactly // the plugin leaves trailing spaces out, too
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
			// The plugin names the collation "C", and PostgreSQL uses no index of an equal
			// collation with another name.
			ordered: r["collation_name"] == "C" && r.is("usual_order"),
		})
	}
}

// postgresActions matches the actions in a foreign key's definition.
var postgresActions = regexp.MustCompile(` ON (?:DELETE|UPDATE) (?:CASCADE|SET NULL|SET DEFAULT)(?: \([^)]*\))?`)

// readKeys reads the foreign keys.
func (postgres) readKeys(p *physical, records []record) {
	p.referring = make(map[string]bool)
	for _, r := range records {
		columns := strings.Split(r["column_names"], ",")
		for _, name := range columns {
			p.referring[name] = true
		}
		actions := strings.Join(postgresActions.FindAllString(r["definition"], -1), "")
		if !actsByItself(actions) {
			continue
		}
		p.foreignKeys = append(p.foreignKeys, foreignKey{
			name: r["name"], columns: columns, actions: strings.TrimSpace(actions), empties: empties(actions),
			plain: postgresActions.ReplaceAllString(r["definition"], ""),
		})
	}
}

// readNames reads the names that a new index cannot have.
func readNames(p *physical, records []record) {
	for _, r := range records {
		p.names[strings.ToLower(r["name"])] = true
	}
}

// postgresKinds names what is not a table, by pg_class.relkind.
var postgresKinds = map[string]string{
	"v": "a view", "m": "a stored view", "f": "a foreign table", "S": "a sequence", "i": "an index", "c": "a composite type",
}

// readShape reads what the name stands for.
func (postgres) readShape(p *physical, r record) {
	p.schema, p.partitionedBy = r["schema_name"], r["partitioned_by"]
	p.shape = shape{
		kind: postgresKinds[r["kind"]], temporary: r.is("is_temporary"), security: r.is("has_row_security"),
		policies: make(map[string][]string), subscriptions: r["subscriptions"],
	}
	if r["kind"] != "p" {
		p.shape.heirs = r["heirs"]
	}
	if r.is("is_partition") {
		p.shape.partitionOf = r["ancestors"]
	} else {
		p.shape.ancestors = r["ancestors"]
	}
}

// readPolicies reads the columns that row-level policies read.
func readPolicies(p *physical, records []record) {
	for _, r := range records {
		columns := p.shape.policies[r["name"]]
		if r["column_name"] != "" {
			columns = append(columns, r["column_name"])
		}
		p.shape.policies[r["name"]] = columns
	}
}

// readRules reads the rules.
func readRules(p *physical, records []record) {
	for _, r := range records {
		p.shape.rules = append(p.shape.rules, r["name"])
	}
}

// readTriggers reads the triggers.
func readTriggers(p *physical, records []record) {
	for _, r := range records {
		p.triggers = append(p.triggers, trigger{schema: r["trigger_schema"], name: r["name"], table: r["tbl"]})
	}
}
