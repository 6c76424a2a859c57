package table

import (
	"database/sql"
	"database/sql/driver"
	"math"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

type (
	mark   uint64
	sort   int
	valued int
)

func (sort) String() string { return "not for the database" }

func (v valued) Value() (driver.Value, error) { return int64(v) + 1, nil }

func TestDirect_inlinesPlainValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sql      string
		vars     []any
		dialect  *dialect.Dialect
		prepares bool
		want     string
	}{
		{"a = ? AND b IN (?,?)", []any{int64(1), int64(2), int64(30)}, dialect.MySQL, false, "a = 1 AND b IN (2,30)"},
		{"a = 1-?", []any{int64(-5)}, dialect.MySQL, false, "a = 1-(-5)"},
		{"a = ? AND b = ? AND c", []any{mark(math.MaxUint64), true}, dialect.MySQL, false, "a = 18446744073709551615 AND b = true AND c"},
		{"a > ? AND b = ?", []any{"/0/7/ -- \"x?", sort(-1)}, dialect.MySQL, false, `a > '/0/7/ -- "x?' AND b = (-1)`},
		{"a = ?", []any{"it's"}, dialect.MySQL, false, ""},
		{"a = ?", []any{`\`}, dialect.MySQL, false, ""},
		{"a = ?", []any{"é"}, dialect.MySQL, false, ""},
		{"a = ?", []any{"\x00"}, dialect.MySQL, false, ""},
		{"a = ?", []any{sql.NullInt64{}}, dialect.MySQL, false, ""},
		{"a = ?", []any{valued(1)}, dialect.MySQL, false, ""},
		{"a = ? AND b = ?", []any{int64(1), 1.5}, dialect.MySQL, false, ""},
		{"a = ?", []any{nil}, dialect.MySQL, false, ""},
		{"a = '?' AND b = ?", []any{int64(1)}, dialect.MySQL, false, ""},
		{"a = ?", []any{int64(1)}, dialect.MySQL, true, ""},
		{"a = ?", []any{int64(1)}, dialect.SQLite, false, ""},
	} {
		d := Direct{&gorm.Statement{DB: &gorm.DB{Config: &gorm.Config{PrepareStmt: tt.prepares}}, Vars: tt.vars}, &Table{Dialect: tt.dialect}}
		d.SQL.WriteString(tt.sql)
		want, variables := tt.want, 0
		if want == "" {
			want, variables = tt.sql, len(tt.vars)
		}
		if query, vars := d.inlined(); query != want || len(vars) != variables {
			t.Errorf("%s with %v became %s with %v, want %s", tt.sql, tt.vars, query, vars, want)
		}
	}
}
