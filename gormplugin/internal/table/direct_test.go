package table

import (
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

func TestDirect_inlinesNumbers(t *testing.T) {
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
		{"a = ? AND b = ?", []any{int64(1), "x"}, dialect.MySQL, false, ""},
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
		if sql, vars := d.inlined(); sql != want || len(vars) != variables {
			t.Errorf("%s with %v became %s with %v, want %s", tt.sql, tt.vars, sql, vars, want)
		}
	}
}
