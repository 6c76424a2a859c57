package fsck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// The database's answer to a failed statement decides how the repair goes on. It retries a
// transaction that the database has given up, and skips a tree that another session keeps busy and
// a row that the database refuses. Any other answer ends the repair.

// answer returns the codes of a database's error: number and SQLSTATE of MySQL, or SQLSTATE of
// PostgreSQL. For SQLite, both are zero.
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

// isRetryable reports whether the database gave a transaction up in favour of another.
func isRetryable(err error) bool {
	number, state := answer(err)
	return number == 1213 || number == 1020 || number == 0 && (state == "40001" || state == "40P01")
}

// isBusy reports whether another session held a lock for longer than the transaction waits.
func isBusy(err error) bool {
	number, state := answer(err)
	return number == 1205 || number == 3572 || state == "55P03" || isSQLite(err, "database is locked", "database table is locked")
}

// isDuplicate reports whether a unique index refused a statement.
func isDuplicate(err error) bool {
	number, state := answer(err)
	return number == 1062 || number == 0 && state == "23505" || isSQLite(err, "UNIQUE constraint failed")
}

// refusals are MySQL's errors for a value that a row cannot have, besides the classes of SQLSTATE.
var refusals = []uint16{
	1364, // a column without a default
	1366, // a text that the column's character set lacks
	3819, // a CHECK
	1118, // a row that is too long
	1713, // an index record that is too long
}

// isRefused reports whether the database refused a statement because of the row that it writes:
// because of a constraint, a trigger, or a limit. It may accept other rows.
func isRefused(err error) bool {
	number, state := answer(err)
	if slices.Contains(refusals, number) || errors.Is(err, errCare) {
		return true
	}
	if len(state) == 5 {
		// In this order: data, constraints, a trigger's own errors of MySQL and PostgreSQL, limits
		// such as that of an index row, views WITH CHECK OPTION.
		return slices.Contains([]string{"22", "23", "45", "P0", "54", "44"}, state[:2])
	}
	return isSQLite(err, "constraint failed", "too big", "datatype mismatch")
}

// errCare: a row cannot be written, and the transaction has to run again with care.
var errCare = errors.New("fsck")

// isAnswer reports whether an error is the database's answer, as opposed to a lost connection.
func isAnswer(err error) bool {
	number, state := answer(err)
	return number != 0 || state != "" || isSQLite(err, "constraint failed", "too big", "datatype mismatch", "SQL logic error", "no such")
}

// isSQLite reports whether an error has one of SQLite's messages. Its drivers share no error type.
func isSQLite(err error, says ...string) bool {
	if err == nil {
		return false
	}
	if number, state := answer(err); number != 0 || state != "" {
		return false
	}
	return slices.ContainsFunc(says, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// canceled adds the context's cause to an error, if the context has ended. Some databases report an
// interruption in their own words.
func canceled(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}
