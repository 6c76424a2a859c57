package dialect

import (
	"context"
	"database/sql"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// identity is how a database says what it is: the question, and what speaks its protocol without
// being it. Where the row locks of such a product are not those that the assertion is made of,
// nothing would say so at run time.
type identity struct {
	question string
	// imitations are known by a part of the answer, in lower case.
	imitations []imitation
}

// imitation is a product that is like a supported one.
type imitation struct{ mark, name, why string }

// unproved is why a product is refused of which no more is known.
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

// unsupportedProduct returns the error for a product that only speaks the dialect, nil for others.
func unsupportedProduct(dialect, version string) error {
	answer := strings.ToLower(version)
	for _, i := range identities[dialect].imitations {
		if strings.Contains(answer, i.mark) {
			return &fault.UnsupportedDatabaseError{Product: i.name, Version: strings.TrimSpace(version), Why: i.why}
		}
	}
	return nil
}

// CheckProduct asks what answers on a connection what it is. The error is an
// [*fault.UnsupportedDatabaseError] where that only speaks the dialect. answered is not set where
// nobody has said, or there is nothing to ask.
func (d *Dialect) CheckProduct(ctx context.Context, on Asker) (answered bool, err error) {
	identity, known := identities[d.Name]
	if !known {
		return false, nil
	}
	var text sql.NullString
	if err := on.QueryRowContext(ctx, identity.question).Scan(&text); err != nil {
		return false, nil //nolint:nilerr // A database that gives no answer is asked again.
	}
	return true, unsupportedProduct(d.Name, text.String)
}

// Asker is a connection, or a pool of some.
type Asker interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
