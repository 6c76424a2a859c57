package dialect

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// constraintError is an error with a field, as pgx has it.
type constraintError struct {
	quotedError
	ConstraintName string
}

// detailedError is one with the detail and the table, too.
type detailedError struct {
	quotedError
	ConstraintName, Detail, TableName string
}

// quotedError is an error of PostgreSQL without that field.
type quotedError string

func (e quotedError) Error() string    { return string(e) }
func (e quotedError) SQLState() string { return "23505" }

// A user's text must not be mistaken for the index that an error names.
func TestDuplicate(t *testing.T) {
	entry := func(message string) error { return &mysql.MySQLError{Number: 1062, Message: message} }
	index := func(name string) Duplicate { return Duplicate{Index: name} }
	for _, c := range []struct {
		name    string
		dialect string
		err     error
		want    Duplicate
	}{
		{"MariaDB", "mysql", entry("Duplicate entry '1-a' for key 'sibling'"), index("sibling")},
		{"MySQL", "mysql", entry("Duplicate entry '1-a' for key 't.sibling'"), index("t.sibling")},
		{"an entry that repeats the words", "mysql", entry("Duplicate entry '1-x for key 'PRIMARY' for key 'sibling'"), index("sibling")},
		{"an index with a quote", "mysql", entry("Duplicate entry '1' for key 'it's'"), index("it's")},
		{"another language", "mysql", entry("Duplicata du champ 'x for key 'PRIMARY'' pour la clef 'sibling'"), Duplicate{}},
		{"the field", "postgres", &constraintError{`ERROR: said otherwise`, "sibling"}, index("sibling")},
		{"the field, which is empty for a trigger's error", "postgres", &constraintError{`ERROR: duplicate key value violates unique constraint "t_pkey"`, ""}, Duplicate{}},
		{"the detail", "postgres", &detailedError{"", "sibling", `Key (parent_id, "a(""b")=(1, x)=(y) already exists.`, "t"}, Duplicate{Index: "sibling", Columns: []string{"t.parent_id", `t.a("b`}}},
		{"the detail of an expression, in German", "postgres", &detailedError{"", "sibling", `Schlüssel »(COALESCE(parent_id, 0), name)=(1, x)« existiert bereits.`, "t"}, Duplicate{Index: "sibling", Columns: []string{"t.COALESCE", "t.parent_id", "t.name"}}},
		{"ncruces", "sqlite", errors.New("sqlite3: constraint failed: UNIQUE constraint failed: t.a, t.b"), Duplicate{Columns: []string{"t.a", "t.b"}}},
		{"glebarez", "sqlite", errors.New("constraint failed: UNIQUE constraint failed: t.a, t.b (2067)"), Duplicate{Columns: []string{"t.a", "t.b"}}},
		{"an expression", "sqlite", errors.New("sqlite3: constraint failed: UNIQUE constraint failed: index 'sibling'"), index("sibling")},
		{"an error that is not the driver's", "sqlite", errors.New(`refused: "UNIQUE constraint failed: t.a"`), Duplicate{}},
	} {
		d, err := Of(Name(c.dialect))
		testerr.Must(t, err)
		if got := d.Duplicate(fmt.Errorf("insert %q: %w", "UNIQUE constraint failed: t.z", c.err)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %s (%v): got %+v, want %+v", c.dialect, c.name, c.err, got, c.want)
		}
	}
}
