package gormplugin

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
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

// recognised remembers the connections whose database is known to be supported.
type recognised struct{ pools sync.Map } // of weak.Pointer[sql.DB] to nothing

// questionTimeout bounds the question at Use, where the caller has no context to bound it by.
const questionTimeout = 5 * time.Second

// asker is a connection, or a pool of some.
type asker interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// recogniseNow asks the database that db is open on what it is. It need not be there yet: a session
// that only builds SQL has none, and GORM can be told not to connect. It is then asked before the
// first transaction.
func (p *Plugin) recogniseNow(db *gorm.DB) error {
	if db.DryRun {
		return nil
	}
	var connections *sql.DB
	switch c := unwrapped(db.ConnPool).(type) {
	case *sql.DB:
		connections = c
	case *pool:
		connections = c.DB
	default:
		return nil // which wrapPool refuses
	}
	ctx, cancel := context.WithTimeout(context.Background(), questionTimeout)
	defer cancel()
	return p.recognise(ctx, connections, connections)
}

// recognise returns an [*UnsupportedDatabaseError] if what answers on one of the connections is no
// database that the plugin supports. One that gives no answer is asked again the next time: it is
// what a test plays, or it is about to fail anyway.
func (p *Plugin) recognise(ctx context.Context, connections *sql.DB, on asker) error {
	identity, known := identities[p.dialect.name]
	if !known {
		return nil
	}
	key := weak.Make(connections)
	if _, done := p.recognised.pools.Load(key); done {
		return nil
	}
	version, answered := identity.ask(ctx, on)
	if !answered {
		return nil
	}
	if err := unsupportedProduct(p.dialect.name, version); err != nil {
		return err
	}
	p.recognised.pools.Store(key, nil)
	return nil
}

// ask returns what a database says that it is.
func (i identity) ask(ctx context.Context, on asker) (version string, answered bool) {
	var text sql.NullString
	err := on.QueryRowContext(ctx, i.question).Scan(&text)
	return text.String, err == nil
}
