package dialect

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"time"
)

// SQLite is for SQLite.
var SQLite = &Dialect{
	Name:           "sqlite",
	PartialIndexes: true,
	RemakesTables:  true,
	AnyType:        true,
	AnyLength:      true,
	ReturnsKeys:    true,
	HidesCascades:  true,
	Millis:         "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
	Grammar:        sqliteGrammar,
	row:            rowSQL{bytes: "x'%s'"},
	mark:           `"`,
	LockWait:       LockWait{Session: "PRAGMA busy_timeout = %d", Unit: time.Millisecond},
	SoleWriter:     true,
	UnionAll:       [3]string{"", " UNION ALL ", ""},
	Binary:         "?",
	Length:         "LENGTH",
	Bytes:          "LENGTH",
	Follow:         "? || '/' || ?",
	First:          "? || ?",
	Prefix:         "SUBSTR(?, 1, ?) = ? COLLATE BINARY",
	Join:           joinTexts,
	AssignBelow:    assignBelow,
	Classify:       classifySQLite,
	Refuses:        refusesSQLite,
	Duplicate:      duplicateSQLite,
	Probe:          probeSQLite,
}

// The messages of SQLite, and of database/sql, that matter in other places, too.
const (
	sqliteDuplicate = "UNIQUE constraint failed"
	sqlTooLarge     = "uint64 values with high bit set are not supported"
)

// sqliteMeanings are what SQLite's messages mean. See https://www.sqlite.org/rescode.html. A
// read-only database is never FailureReadOnly: unlike after a failover, no new session could write.
var sqliteMeanings = []struct {
	kind     Failure
	messages []string
}{
	{FailureRetry, []string{"database is locked", "database table is locked"}},
	{FailureDuplicate, []string{sqliteDuplicate}},
	{FailureReference, []string{"FOREIGN KEY constraint failed"}},
	{FailureUnfit, []string{"string or blob too big", sqlTooLarge, "NOT NULL constraint failed", "CHECK constraint failed", "datatype mismatch", "cannot store "}},
	{FailureUnavailable, []string{
		"disk I/O error", "unable to open database file", "database or disk is full", "database disk image is malformed",
		"file is not a database", "attempt to write a readonly database", "no such table",
	}},
}

// sqliteMessage is how drivers begin an error of SQLite: with their own name, if at all, then
// SQLite's name for the error's code, which may be all, and then its message.
var sqliteMessage = regexp.MustCompile(`^(?:(?:sqlite\w*|libsql\w*|SQLite(?: \w+)?): )?(?:(?:SQL logic error|constraint failed): )?`)

// sqliteSays looks for a message of SQLite in an error, and returns what follows the message. Every
// driver passes the messages on, but each has an error type of its own.
func sqliteSays(err error, message string) (rest string, ok bool) {
	walk(err, func(e error) {
		text := e.Error()
		if after, found := strings.CutPrefix(text[len(sqliteMessage.FindString(text)):], message); found && !ok {
			rest, ok = after, true
		}
	})
	return rest, ok
}

// classifySQLite reads SQLite's messages.
func classifySQLite(err error) Failure {
	for _, m := range sqliteMeanings {
		for _, message := range m.messages {
			if _, ok := sqliteSays(err, message); ok {
				return m.kind
			}
		}
	}
	return FailureOther
}

// refusesSQLite looks for SQLite's messages anywhere, since a trigger's own words may follow them.
func refusesSQLite(err error) bool {
	return err != nil && slices.ContainsFunc([]string{"constraint failed", "too big", "datatype mismatch"}, func(says string) bool {
		return strings.Contains(err.Error(), says)
	})
}

// probeSQLite asks by a BEGIN, which SQLite refuses within a transaction. Otherwise BEGIN begins
// another one, which the caller rolls back in the place of the ended one.
func probeSQLite(ctx context.Context, tx *sql.Tx) (open bool, err error) {
	_, err = tx.ExecContext(ctx, "BEGIN")
	if err != nil && strings.Contains(err.Error(), "within a transaction") {
		return true, nil
	}
	return false, err
}

// sqliteGrammar takes the END of a body for that of the transaction.
var sqliteGrammar = &Grammar{
	Quotes: "'\"`[", Escaped: []string{""}, Dashes: regexp.MustCompile(`^--`), LineEnds: "\n", Executes: never, Copies: regexp.MustCompile("^INSERT INTO `[^`]+__temp`\\("),
	RunsText: never, Hides: never,
	Ends: regexp.MustCompile(`^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|END|ABORT) `), Stays: never,
}
