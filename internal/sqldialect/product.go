package sqldialect

import (
	"context"
	"database/sql"
	"strings"
)

// identity is the question that makes a database say what it is, and the products that speak its
// protocol without being it. At run time nothing would reveal that their row locks differ from
// those that the assertion relies on.
type identity struct {
	question string
	// imitations are known by a part of the answer, in lower case.
	imitations []imitation
}

// imitation is a product that is like a supported one.
type imitation struct{ mark, name, why string }

// unproved is why a product is refused about which no more is known.
const unproved = "it is not known whether its row locks keep a tree right"

// identities are those of the databases that others are like, by the dialect's name.
var identities = map[string]identity{
	"mysql": {"SELECT CONCAT(VERSION(), ' ', COALESCE(@@version_comment, ''))", []imitation{
		{"tidb", "TiDB", "its shared row locks lock nothing unless it is set up otherwise"},
		{"oceanbase", "OceanBase", unproved},
		{"vitess", "Vitess", "a transaction over several shards is not isolated from others"},
		{"planetscale", "PlanetScale", "a transaction over several shards is not isolated from others"},
		{"singlestore", "SingleStore", "it has no shared row locks"},
		{"memsql", "SingleStore", "it has no shared row locks"},
		{"dolt", "Dolt", "it has no row locks: it merges transactions when they commit"},
		{"doris", "Doris", "it has no row locks"},
		{"starrocks", "StarRocks", "it has no row locks"},
		{"databend", "Databend", "it has no row locks"},
		{"clickhouse", "ClickHouse", "it has no row locks"},
		{"greptime", "GreptimeDB", "it has no row locks"},
		{"matrixone", "MatrixOne", unproved},
		{"polardb-x", "PolarDB-X", unproved},
		{"tddl", "PolarDB-X", unproved},
		{"xpand", "Xpand", unproved},
		{"clustrix", "Xpand", unproved},
	}},
	"postgres": {"SELECT version()", []imitation{
		{"cockroach", "CockroachDB", "its shared row locks lock nothing at its usual isolation level"},
		{"-yb-", "YugabyteDB", unproved},
		{"yugabyte", "YugabyteDB", unproved},
		{"redshift", "Redshift", "it has no row locks"},
		{"greenplum", "Greenplum", unproved},
		{"cloudberry", "Cloudberry", unproved},
		{"crate", "CrateDB", "it has no transactions"},
		{"materialize", "Materialize", "it has no row locks"}, //nolint:misspell // a name
		{"risingwave", "RisingWave", "it has no row locks"},
		{"questdb", "QuestDB", "it has no row locks"},
		{"spanner", "Spanner", unproved},
		{"gaussdb", "GaussDB", unproved},
		{"opengauss", "openGauss", unproved},
	}},
}

// Imitation is a product that only speaks the dialect, what it answered, and why its row locks are
// not relied on.
type Imitation struct{ Product, Version, Why string }

// Imitation asks the server at the end of a connection what it is, and returns nil where it is what
// it seems to be. answered is false where the server did not say, or there is nothing to ask.
func (d *Dialect) Imitation(ctx context.Context, on Asker) (found *Imitation, answered bool) {
	identity, known := identities[d.Name]
	if !known {
		return nil, false
	}
	var text sql.NullString
	if err := on.QueryRowContext(ctx, identity.question).Scan(&text); err != nil {
		return nil, false // and is asked again
	}
	answer := strings.ToLower(text.String)
	for _, i := range identity.imitations {
		if strings.Contains(answer, i.mark) {
			return &Imitation{Product: i.name, Version: strings.TrimSpace(text.String), Why: i.why}, true
		}
	}
	return nil, true
}

// Asker is a connection, or a pool of some.
type Asker interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
