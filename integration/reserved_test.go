package integration

import (
	"database/sql"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// reservedWords are lists, a word a line, of what the databases reserve and of functions that are
// gone. They are for the versions that are not at hand: the servers themselves are asked, too.
//
//go:embed reserved/*.txt
var reservedWords embed.FS

// listed returns the words of a list.
func listed(t *testing.T, name string) map[string]bool {
	t.Helper()
	text, err := reservedWords.ReadFile("reserved/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if word := strings.TrimSpace(line); word != "" && word[0] != '#' {
			words[word] = true
		}
	}
	if len(words) == 0 {
		t.Fatalf("%s has no words", name)
	}
	return words
}

// No alias, column or table that is written without quotes has a name that any supported database
// reserves, in any version, whichever the statement is for.
func TestNamesAreNotReserved(t *testing.T) {
	names := writtenSQL(t).names
	for _, known := range []string{"PARENT_ID", "ATTNOTNULL", "RECYCLED_ITEMS", "OLD_ID", "CHOSEN"} {
		if names[known] == "" {
			t.Errorf("%s was overlooked", known)
		}
	}
	for _, database := range []string{"mysql", "mariadb", "postgres"} {
		for word := range listed(t, database) {
			if where := names[word]; where != "" {
				t.Errorf("%s: the name %s is reserved on %s", where, word, database)
			}
		}
	}
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := openServer(t, "mysql", server.DSN)
		if server.Product == testserver.Oracle {
			notReserved(t, db, names, `SELECT WORD FROM information_schema.KEYWORDS WHERE RESERVED = 1`)
		}
		parses(t, db, names)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		db := openServer(t, "pgx", testserver.Postgres(t))
		notReserved(t, db, names, `SELECT upper(word) FROM pg_get_keywords() WHERE catcode IN ('R', 'T')`)
		parses(t, db, names)
	})
}

// No function is called that a supported database has had removed.
func TestFunctionsAreNotRemoved(t *testing.T) {
	functions := writtenSQL(t).functions
	for _, known := range []string{"COALESCE", "SHA2", "PG_GET_EXPR"} {
		if functions[known] == "" {
			t.Errorf("%s was overlooked", known)
		}
	}
	for word := range listed(t, "removed_functions") {
		if where := functions[word]; where != "" {
			t.Errorf("%s: there is a server without the function %s", where, word)
		}
	}
}

// openServer opens a server until the end of the test.
func openServer(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// notReserved compares the names with what the server says that it reserves.
func notReserved(t *testing.T, db *sql.DB, names map[string]string, query string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	n := 0
	for ; rows.Next(); n++ {
		var word string
		if err := rows.Scan(&word); err != nil {
			t.Fatal(err)
		}
		if where := names[word]; where != "" {
			t.Errorf("%s: the name %s is reserved", where, word)
		}
	}
	if err := rows.Err(); err != nil || n < 50 {
		t.Errorf("%d reserved words (%v)", n, err)
	}
}

// parses has the server read every name as an alias and as a column. MariaDB's table of keywords
// does not say which are reserved.
func parses(t *testing.T, db *sql.DB, names map[string]string) {
	t.Helper()
	const query = `SELECT %[1]s FROM (SELECT 1 AS %[1]s) AS x WHERE %[1]s = 1`
	for name, where := range names {
		var one int
		if err := db.QueryRowContext(t.Context(), fmt.Sprintf(query, name)).Scan(&one); err != nil || one != 1 {
			t.Errorf("%s: %s cannot be a name: %d, %v", where, name, one, err)
		}
	}
	var one int
	if err := db.QueryRowContext(t.Context(), fmt.Sprintf(query, "GROUP")).Scan(&one); err == nil {
		t.Error("the server takes GROUP for a name")
	}
}

// joined returns the words in order.
func joined(words map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(words)), " ")
}
