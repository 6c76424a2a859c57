package gormplugin_test

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"gorm.io/gorm"
)

// A deadlock that a read has lost may come with its rows, and be seen by the reader alone. It has
// ended the transaction all the same: whoever takes no notice of it writes nothing that stays.
func TestDeadlockThatComesWithTheRows(t *testing.T) {
	reads := map[string]func(tx *gorm.DB, id int64) error{
		"Row": func(tx *gorm.DB, id int64) error {
			var name string
			return tx.Raw("SELECT name FROM others WHERE id = ? FOR UPDATE", id).Row().Scan(&name)
		},
		"Rows": func(tx *gorm.DB, id int64) error {
			rows, err := tx.Raw("SELECT id, REPEAT('x', 4000) FROM others WHERE id <> ? ORDER BY id FOR UPDATE", id-1).Rows()
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
			}
			return rows.Err()
		},
		"Scan": func(tx *gorm.DB, id int64) error {
			var names []string
			return tx.Raw("SELECT REPEAT('x', 4000) FROM others WHERE id <> ? ORDER BY id FOR UPDATE", id-1).Scan(&names).Error
		},
		"the pool": func(tx *gorm.DB, id int64) error {
			rows, err := tx.Statement.ConnPool.QueryContext(t.Context(), "SELECT name FROM others WHERE id = ? FOR UPDATE", id)
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
			}
			return rows.Err()
		},
	}
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for name, read := range reads {
			for mode, config := range map[string]gorm.Config{"plain": {}, "prepared": {PrepareStmt: true}} {
				t.Run(name+" "+mode, func(t *testing.T) {
					db, locker, a, _ := openMySQL(t, server, config, nil)
					rows := make([]*other, 40)
					for i := range rows {
						rows[i] = &other{Name: "row"}
					}
					must(t, db.Create(rows).Error)
					first, last := rows[0].ID, rows[39].ID

					// The one that has written more survives.
					heavy := db.Begin()
					defer heavy.Rollback()
					must(t, heavy.Exec("UPDATE others SET name = 'heavy' WHERE id > ?", rows[25].ID).Error)
					tx := db.Begin()
					defer tx.Rollback()
					must(t, tx.Exec("UPDATE others SET name = 'light' WHERE id = ?", first).Error)
					survived := make(chan error, 1)
					go func() { survived <- heavy.Exec("UPDATE others SET name = 'heavy' WHERE id = ?", first).Error }()
					err := read(tx, last)
					if err == nil {
						t.Fatal("the read has not lost a deadlock")
					}
					must(t, <-survived)
					must(t, heavy.Rollback().Error)

					// Nobody looks at that error.
					for what, write := range map[string]func() error{
						"a guarded table": func() error { return tx.Create(&suite{ParentID: &a.ID, Name: "after"}).Error },
						"another table":   func() error { return tx.Create(&other{Name: "after"}).Error },
						"raw SQL":         func() error { return tx.Exec("INSERT INTO others (name) VALUES ('after')").Error },
						"the end":         func() error { return tx.Commit().Error },
					} {
						if err := write(); !errors.Is(err, gormplugin.ErrRetry) {
							t.Errorf("%s: got %v", what, err)
						}
					}
					var others, suites int64
					must(t, db.Model(&other{}).Where("name <> 'row'").Count(&others).Error)
					must(t, db.Model(&suite{}).Where("name = 'after'").Count(&suites).Error)
					if others+suites > 0 {
						t.Errorf("%d rows of other tables and %d of the guarded one are committed", others, suites)
					}
					noLocks(t, locker)
				})
			}
		}
	})
}
