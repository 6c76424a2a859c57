package table

import (
	"database/sql"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// A path without a size gets the one that the program gives to all texts, and so the same type as
// without the plugin. Otherwise GORM's AutoMigrate would alter the column.
func TestInspectAll_keepsTheSizeOfTheDialector(t *testing.T) {
	for every, want := range map[uint]string{0: "varchar(766)", 191: "varchar(191)"} {
		type dept struct {
			ID       int64
			ParentID int64  `pathlock:"parent"`
			Path     string `pathlock:"idpath"`
			Note     string `gorm:"size:40"`
		}
		db, err := gorm.Open(mysql.New(mysql.Config{Conn: new(sql.DB), SkipInitializeWithVersion: true, DefaultStringSize: every}), &gorm.Config{DisableAutomaticPing: true})
		testerr.Must(t, err)
		testerr.Must(t, new(Catalogue).InspectAll(db, dialect.MySQL, []Spec{{Model: &dept{}, Table: treetable.Table{SingleTree: "depts"}}}))
		stmt := &gorm.Statement{DB: db}
		testerr.Must(t, stmt.Parse(&dept{}))
		if got := db.DataTypeOf(stmt.Schema.LookUpField("Path")); got != want {
			t.Errorf("with texts of %d characters, the path is %s, want %s", every, got, want)
		}
	}
}
