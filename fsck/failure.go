package fsck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// What a database says when a statement fails decides what becomes of the rest: a transaction that
// it gave up is tried again, a tree that somebody else keeps busy is left, and so is a row that it
// refuses. Anything else ends the run.

// answer returns what the database calls an error: MySQL by its number and SQLSTATE, PostgreSQL by
// its SQLSTATE.
func answer(err error) (number uint16, sqlState string) {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number, string(e.SQLState[:])
	}
	var postgres interface{ SQLState() string }
	if errors.As(err, &postgres) {
		return 0, postgres.SQLState()
	}
	return 0, ""
}

// isRetryable reports whether the database gave a transaction up in favour of another one.
func isRetryable(err error) bool {
	number, state := answer(err)
	return number == 1213 || number == 1020 || number == 0 && (state == "40001" || state == "40P01")
}

// isBusy reports whether somebody else held a lock for longer than a transaction waits.
func isBusy(err error) bool {
	number, state := answer(err)
	return number == 1205 || number == 3572 || state == "55P03" || isSQLite(err, "database is locked", "database table is locked")
}

// isDuplicate reports whether a unique index refused a statement.
func isDuplicate(err error) bool {
	number, state := answer(err)
	return number == 1062 || number == 0 && state == "23505" || isSQLite(err, "UNIQUE constraint failed")
}

// refusals are what MySQL says of a value that a row cannot have, beside the classes of SQLSTATE.
var refusals = []uint16{
	1364, // a column without a default
	1366, // a text that the column's character set lacks
	3819, // a CHECK
	1118, // a row that is too long
	1713, // an index record that is too long
}

// isRefused reports whether the database refused a statement because of the row that it writes: by
// a constraint, a trigger, or a limit. Others may get through.
func isRefused(err error) bool {
	number, state := answer(err)
	if slices.Contains(refusals, number) || errors.Is(err, errCare) {
		return true
	}
	if len(state) == 5 {
		// Data, constraints, a trigger's own errors, limits (an index row that is too long), views
		// WITH CHECK OPTION.
		return slices.Contains([]string{"22", "23", "45", "P0", "54", "44"}, state[:2])
	}
	return isSQLite(err, "constraint failed", "too big", "datatype mismatch")
}

// errCare: the transaction has to be done again with care, since a row cannot be written.
var errCare = errors.New("fsck")

// isNoColumn reports whether the database knows no such column, and not that it may not be read.
func isNoColumn(err error) bool {
	number, state := answer(err)
	return number == 1054 || number == 0 && state == "42703" || isSQLite(err, "no such column")
}

// isSaid reports whether an error is the database's answer, and not that it could not be asked.
func isSaid(err error) bool {
	number, state := answer(err)
	return number != 0 || state != "" || isSQLite(err, "constraint failed", "too big", "datatype mismatch", "SQL logic error", "no such")
}

// isSQLite reports whether SQLite says one of these things, whichever driver it speaks through.
func isSQLite(err error, says ...string) bool {
	if err == nil {
		return false
	}
	if number, state := answer(err); number != 0 || state != "" {
		return false
	}
	return slices.ContainsFunc(says, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// canceled adds to an error that the context has ended, for databases that say in their own words
// that they were interrupted.
func canceled(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}
