package gormplugin

import (
	"context"
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"gorm.io/gorm"
)

// probingKey marks sessions in which Verify may write.
const probingKey = "pathlock:probing"

// Probing returns a DB on which [Verify] also tries triggers out, where their text does not tell
// what they do to a tree: SQL that is put together when it runs, a function in C, a routine whose
// text the user may not read, or triggers that the user may not see. db itself stays as it is.
//
//	err := gormplugin.Verify(gormplugin.Probing(db))
//
// A probe writes two rows of its own below a row of the table that is there, or in a tree of its
// own in an empty table: it inserts them, renames one, rewrites the other's path, moves it, and
// deletes both. After each statement it compares what the database has with what was written, and
// the places of the table's other rows with what they were. Then it rolls all of it back, whatever
// it saw.
//
// It has to be asked for, since a rollback does not undo everything: not what a trigger writes to a
// table without transactions or sends elsewhere, and not the numbers that a sequence has given it.
// On MySQL and MariaDB the table's AUTO_INCREMENT goes up by two. While it runs, some milliseconds,
// others may wait for the rows that it locks. So probe on a copy of the database, or where that is
// acceptable, such as before the program's first start. Tables without such triggers are not
// written to.
//
// Harm that shows is a finding that is [treeschema.Unsafe]; where none shows, nothing is found.
// That is no proof: a trigger may do harm to certain rows only. Where a probe cannot be carried
// out, such as for a constraint that its rows do not meet, the finding says why. Of a table with
// more than 100,000 rows only those beside the probe's own are compared, which the finding says,
// too. Triggers of other tables are not tried out.
//
// Verify cannot probe within a transaction.
func Probing(db *gorm.DB) *gorm.DB {
	return db.Set(probingKey, true).Session(&gorm.Session{})
}

// checkSchema returns the check that Verify makes.
func checkSchema(db *gorm.DB) func(context.Context, treeschema.Conn, string, []treeschema.Table) ([]treeschema.Finding, error) {
	if probing, _ := db.Get(probingKey); probing != true {
		return treeschema.Run
	}
	return func(ctx context.Context, conn treeschema.Conn, dialect string, layout []treeschema.Table) ([]treeschema.Finding, error) {
		prober, ok := conn.(treeschema.Prober)
		if !ok {
			return nil, errors.New("a probe cannot be rolled back within a transaction: call Verify outside of it")
		}
		return treeschema.RunProbing(ctx, prober, dialect, layout)
	}
}
