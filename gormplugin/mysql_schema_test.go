package gormplugin_test

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"gorm.io/gorm"
)

// Where the database's column is shorter than the model's, its error comes back as the plugin's
// own.
func TestMySQLColumnTooShort(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db, _, a, _ := openMySQL(t, server, gorm.Config{}, nil)
		testerr.Must(t, gormplugin.AllowRawWrites(db).Exec("ALTER TABLE suites MODIFY name VARCHAR(10), MODIFY note VARCHAR(10)").Error)
		for _, c := range []struct {
			name, note string
			tooLong    bool
		}{{"eleven char", "", true}, {"a", "eleven char", false}} {
			err := db.Create(&suite{ParentID: &a.ID, Name: c.name, Note: c.note}).Error
			if err == nil || errors.Is(err, gormplugin.ErrPathTooLong) != c.tooLong {
				t.Errorf("name %q, note %q: %v; too long: %t", c.name, c.note, err, c.tooLong)
			}
		}
	})
}
