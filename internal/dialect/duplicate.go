package dialect

import (
	"errors"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Duplicate is what an error of a unique index says about that index. It is empty if the error says
// nothing.
type Duplicate struct {
	// Index is its name. MySQL puts the table's name and a dot before it.
	Index string
	// Columns are those of the index, each as table.column, where the error lists them: SQLite in
	// the place of the name, PostgreSQL with all words of an expression for columns.
	Columns []string
}

// mysqlKey matches MySQL's message, unless it is in another language. The entry may hold anything
// that a user has written. So the index is what comes last.
var mysqlKey = regexp.MustCompile(`(?s)^Duplicate entry '.*for key '(.*)'$`)

func duplicateMySQL(err error) Duplicate {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		if key := mysqlKey.FindStringSubmatch(e.Message); key != nil {
			return Duplicate{Index: key[1]}
		}
	}
	return Duplicate{}
}

// postgresKey matches the index in the detail of PostgreSQL's error, in any language: "Key (a,
// lower(b))=(…) already exists." The values come after it.
var (
	postgresKey  = regexp.MustCompile(`^[^(]*\((.+?)\)=\(`)
	postgresWord = regexp.MustCompile(`"(?:[^"]|"")+"|[\pL_][\pL\pN_$]*`)
)

// duplicatePostgres reads the fields of the error as pgx and lib/pq name them. The server sends no
// detail to a user who may not read the columns.
func duplicatePostgres(err error) Duplicate {
	taken := Duplicate{Index: postgresField(err, "ConstraintName", "Constraint")}
	if key := postgresKey.FindStringSubmatch(postgresField(err, "Detail")); key != nil && taken.Index != "" {
		for _, word := range postgresWord.FindAllString(key[1], -1) {
			taken.Columns = append(taken.Columns, postgresField(err, "TableName", "Table")+"."+strings.ReplaceAll(strings.Trim(word, `"`), `""`, `"`))
		}
	}
	return taken
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
