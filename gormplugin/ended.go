package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
)

// Some errors end a transaction on the server, or may do so by a setting: whatever is run afterwards would be
// committed by itself, past the caller's ROLLBACK. Which errors these are differs between versions, settings and
// plugins of a server. So the server is asked, after every error but those that are known to undo nothing but their statement.

// probe is how a database is asked whether a transaction has ended.
type probe struct {
	// harmless reports whether an error is known to leave the transaction open.
	harmless func(error) bool
	// open reports whether the transaction is open. An error means that it cannot be told.
	open func(context.Context, *sql.Tx) (bool, error)
}

// hasEnded reports whether a transaction in which a statement has failed is over on the server, or may be.
func (d *dialect) hasEnded(tx *transaction, err error) bool {
	if d.probe == nil || tx.failed() != nil || d.probe.harmless(err) {
		return false
	}
	open, err := d.probe.open(background(tx.ctx), tx.Tx)
	return err != nil || !open
}

// mysqlHarmless are the errors of MySQL and MariaDB that undo their statement alone.
var mysqlHarmless = []uint16{
	1048, 1364, // a NULL, or no value, where there has to be one
	1054, 1064, 1146, // a column, a syntax, a table that is not there
	1062, 1586, // a unique index has the row
	1216, 1217, 1451, 1452, // a foreign key
	1264, 1366, 1406, // a value that does not fit
	3819, 4025, // a CHECK
}

// probeMySQL asks by a savepoint. Outside of a transaction, none is set, and there is none to release.
func probeMySQL() *probe {
	const noSavepoint = 1305 // ER_SP_DOES_NOT_EXIST
	return &probe{
		harmless: func(err error) bool {
			e, ok := errors.AsType[*mysql.MySQLError](err)
			// Where the connection is gone, so is all of the transaction, and nothing can be run in it.
			return !ok || slices.Contains(mysqlHarmless, e.Number)
		},
		open: func(ctx context.Context, tx *sql.Tx) (bool, error) {
			var commits bool
			// Where nothing is committed by itself, the server has begun another transaction in the place of the one that ended.
			if err := tx.QueryRowContext(ctx, "SELECT @@autocommit").Scan(&commits); err != nil || !commits {
				return false, err
			}
			if _, err := tx.ExecContext(ctx, "SAVEPOINT pathlock_probe"); err != nil {
				return false, err
			}
			_, err := tx.ExecContext(ctx, "RELEASE SAVEPOINT pathlock_probe")
			if e, ok := errors.AsType[*mysql.MySQLError](err); ok && e.Number == noSavepoint {
				return false, nil
			}
			return err == nil, err
		},
	}
}

// probeSQLite asks by a BEGIN, which is refused within a transaction. Otherwise it begins another one, which is rolled back
// in the place of the one that ended.
func probeSQLite() *probe {
	return &probe{
		harmless: func(err error) bool { return errors.Is(err, gorm.ErrRecordNotFound) },
		open: func(ctx context.Context, tx *sql.Tx) (bool, error) {
			_, err := tx.ExecContext(ctx, "BEGIN")
			if err != nil && strings.Contains(err.Error(), "within a transaction") {
				return true, nil
			}
			return false, err
		},
	}
}
