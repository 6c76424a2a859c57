package dialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"reflect"
	"strings"
)

// imitation is a product that speaks a dialect without being the original. At run time nothing
// would reveal that its row locks differ from those that the plugin relies on. A part of its
// description of itself, in lower case, identifies it.
type imitation struct{ mark, name, why string }

// unproved is why a product is refused if nothing more is known about it.
const unproved = "it is not known whether its row locks keep a tree right"

var mysqlImitations = []imitation{
	{"tidb", "TiDB", "its shared row locks lock nothing unless it is configured otherwise"},
	{"oceanbase", "OceanBase", unproved},
	{"vitess", "Vitess", "a transaction over several shards is not isolated from others"},
	{"planetscale", "PlanetScale", "a transaction over several shards is not isolated from others"},
	{"singlestore", "SingleStore", "it has no shared row locks"},
	{"memsql", "SingleStore", "it has no shared row locks"},
	{"dolt", "Dolt", "it has no row locks: it merges transactions when they commit"},
	{"doris", "Doris", "it has no row locks"},
	{"starrocks", "StarRocks", "it has no row locks"},
	{"polardb-x", "PolarDB-X", unproved},
}

var postgresImitations = []imitation{
	{"cockroach", "CockroachDB", "its shared row locks lock nothing at its usual isolation level"},
	{"-yb-", "YugabyteDB", unproved},
	{"yugabyte", "YugabyteDB", unproved},
	{"redshift", "Redshift", "it has no row locks"},
	{"greenplum", "Greenplum", unproved},
	{"spanner", "Spanner", unproved},
	{"opengauss", "openGauss", unproved},
	{"gaussdb", "GaussDB", unproved},
	{"kingbase", "KingbaseES", unproved},
}

// Imitation is a product that only speaks the dialect, what it answered, and why its row locks are
// not relied on.
type Imitation struct{ Product, Version, Why string }

// Imitation asks the server at the end of a connection what it is, and returns nil if it is what it
// seems to be. answered is false if the server did not say, or there is nothing to ask.
func (d *Dialect) Imitation(ctx context.Context, on Asker) (found *Imitation, answered bool) {
	if d.identity == "" {
		return nil, false
	}
	var text sql.NullString
	if err := on.QueryRowContext(ctx, d.identity).Scan(&text); err != nil {
		return nil, false // and is asked again
	}
	answer := strings.ToLower(text.String)
	for _, i := range d.imitations {
		if strings.Contains(answer, i.mark) {
			return &Imitation{Product: i.name, Version: strings.TrimSpace(text.String), Why: i.why}, true
		}
	}
	return nil, true
}

// ReadsDirty asks the server at the end of a connection whether plain reads outside of transactions
// find what others have not committed.
func (d *Dialect) ReadsDirty(ctx context.Context, on Asker) bool {
	var name, level string
	return d.level != "" && on.QueryRowContext(ctx, d.level).Scan(&name, &level) == nil && level == "READ-UNCOMMITTED"
}

// Illegible asks the server at the end of a connection for an error. If the driver does not pass
// the error on in the form that is read here, Illegible returns what the driver is: a deadlock,
// which ends the transaction on the server, would go unseen. It returns nil if all is well, or
// there was no answer.
func (d *Dialect) Illegible(ctx context.Context, on Asker, through driver.Driver) *Imitation {
	if d.mistake == "" {
		return nil
	}
	var none any
	err := on.QueryRowContext(ctx, d.mistake).Scan(&none)
	if err == nil || ctx.Err() != nil || unreachable(err) || MySQLNumber(err) != 0 {
		return nil
	}
	t := reflect.TypeOf(through)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := "unknown"
	if t != nil {
		name = t.PkgPath()
	}
	return &Imitation{
		Product: "the driver " + name, Version: err.Error(),
		Why: "its errors lack the error number by which a deadlock is known: use github.com/go-sql-driver/mysql",
	}
}

// Asker is a connection, or a pool of some.
type Asker interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
