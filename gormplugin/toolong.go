package gormplugin

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm/schema"
)

// Where the model states no size, the plugin does not know how long a name or path may be, and the database refuses what
// does not fit: a column of fewer characters, or in PostgreSQL an index, an entry of which has 2704 bytes after compression.

// tooLongMySQL reads the column's name from MySQL's error.
func tooLongMySQL(err error) (string, bool) {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok || e.Number != 1406 { // ER_DATA_TOO_LONG
		return "", false
	}
	_, column, _ := strings.Cut(e.Message, "column '")
	column, _, _ = strings.Cut(column, "'")
	return column, true
}

// tooLongPostgres reads the SQLSTATE; the error says the index, and not the column.
func tooLongPostgres(err error) (string, bool) {
	e, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	// program_limit_exceeded is said of many things.
	return "", ok && e.SQLState() == "54000" && strings.Contains(e.Error(), "index row")
}

// isTooLong reports whether an error means that a name or a path of the table is too long.
func (d *dialect) isTooLong(err error, t *table) bool {
	if d.tooLong == nil {
		return false
	}
	names, ok := d.tooLong(err)
	if !ok || names == "" {
		return ok
	}
	return slices.ContainsFunc([]*schema.Field{t.label, t.path, t.ids}, func(f *schema.Field) bool {
		return f != nil && f.DBName == names
	})
}
