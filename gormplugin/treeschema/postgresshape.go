package treeschema

// postgresKinds are things that the name of a table may stand for, by pg_class.relkind.
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

// readPolicies reads the columns that the policies of row-level security look at.
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
		p.shape.rules = append(p.shape.rules, rule{name: r["name"], text: r["text"], instead: r.is("is_instead")})
	}
}

// readTriggers reads the triggers.
func readTriggers(p *physical, records []record) {
	for _, r := range records {
		p.triggers = append(p.triggers, trigger{
			schema: r["trigger_schema"], name: r["name"], table: r["tbl"], before: r.is("before_row"),
			updates: r.is("updates"), deletes: r.is("deletes"), text: r["text"], language: r["routine_language"],
		})
	}
}

// readRoutines reads procedures and functions.
func readRoutines(p *physical, records []record) {
	for _, r := range records {
		p.routines[r["name"]] = append(p.routines[r["name"]], routine{r["text"], r["routine_language"]})
	}
}
