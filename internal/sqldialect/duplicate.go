package sqldialect

import (
	"errors"
	"reflect"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Duplicate is what an error of a unique index says about that index. It is empty where the error
// does not tell.
type Duplicate struct {
	// Index is its name. MySQL puts the table's name and a dot before it.
	Index string
	// Columns are those of the index, each as table.column, where the error lists them instead.
	Columns []string
}

// duplicateMySQL reads "Duplicate entry '…' for key '…'". The entry may hold anything that a user
// has written. So the index is what comes last.
func duplicateMySQL(err error) Duplicate {
	const before = "for key '"
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok || !strings.HasPrefix(e.Message, "Duplicate entry '") {
		return Duplicate{} // or a message in another language
	}
	at := strings.LastIndex(e.Message, before)
	if at < 0 {
		return Duplicate{}
	}
	return Duplicate{Index: strings.TrimSuffix(e.Message[at+len(before):], "'")}
}

// postgresDuplicate is the message of PostgreSQL, which holds no values of the row.
var postgresDuplicate = regexp.MustCompile(`^(?:\w+: )?duplicate key value violates unique constraint "(.+?)"(?: \(|$)`)

// duplicatePostgres reads the field that the server sends with the error, whatever its language.
// The drivers share no type: it is ConstraintName in pgx and Constraint in lib/pq.
func duplicatePostgres(err error) Duplicate {
	e, ok := stateErrorOf(err)
	if !ok {
		return Duplicate{}
	}
	if v := reflect.Indirect(reflect.ValueOf(e)); v.Kind() == reflect.Struct {
		for _, name := range []string{"ConstraintName", "Constraint"} {
			if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
				return Duplicate{Index: f.String()}
			}
		}
	}
	if found := postgresDuplicate.FindStringSubmatch(e.Error()); found != nil {
		return Duplicate{Index: found[1]}
	}
	return Duplicate{}
}

// sqliteNumber is the code that a driver may write behind SQLite's message.
var sqliteNumber = regexp.MustCompile(` \(\d+\)$`)

// duplicateSQLite reads "UNIQUE constraint failed: a.b, a.c". SQLite lists the index's columns, but
// names an index that has an expression.
func duplicateSQLite(err error) Duplicate {
	rest, ok := sqliteSays(err, sqliteDuplicate)
	if !ok {
		return Duplicate{}
	}
	rest, _, _ = strings.Cut(rest, "; ") // of another error, which GORM has added
	rest = sqliteNumber.ReplaceAllString(strings.TrimPrefix(rest, ": "), "")
	if name, ok := strings.CutPrefix(rest, "index '"); ok {
		return Duplicate{Index: strings.TrimSuffix(name, "'")}
	}
	return Duplicate{Columns: strings.Split(rest, ", ")}
}
