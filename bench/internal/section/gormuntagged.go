package section

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/gormtree"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Untagged is a table without a tree.
type Untagged struct {
	ID   int64
	Name string
}

// gormUntagged measures what the plugin adds to writes on a table that it does not guard. Its
// database answers at once, because any other would drown the difference.
func gormUntagged(ctx context.Context, env *Env) (_ result, err error) {
	var writes []string
	var runs []func(n int) error
	for _, w := range untaggedWrites() {
		for _, with := range []bool{false, true} {
			pool := sql.OpenDB(nowhere{})
			defer func() { err = errors.Join(err, pool.Close()) }()
			db, err := gorm.Open(mysql.New(mysql.Config{Conn: pool, SkipInitializeWithVersion: true}), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true})
			if err != nil {
				return result{}, err
			}
			name := w.name
			if with {
				name += ", plugin in use"
				if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&gormtree.Suite{}))); err != nil {
					return result{}, err
				}
			}
			writes = append(writes, name)
			session := db.WithContext(ctx)
			runs = append(runs, func(n int) error {
				for range n {
					if err := w.run(session); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	p := env.Plan
	took := stats.NewSamples(p.Rounds, len(runs))
	err = stats.Turns(ctx, p.Rounds, p.LocalPasses, len(runs), func(round, i int) error {
		c, err := costOf(runs[i], p.LocalBatch)
		took.Add(round, i, c.nanoseconds)
		return err
	})
	if err != nil {
		return result{}, err
	}
	table := report.NewTable("time", "a write on a table without a tree, on a database that answers at once", "ns", "", writes, took.Medians())
	r := result{tables: []report.Table{table}}
	var names []string
	var differences [][]float64
	for i := 0; i < len(writes); i += 2 {
		difference := stats.Differences(table.Rows[i+1].Rounds, table.Rows[i].Rounds)
		names, differences = append(names, writes[i]), append(differences, difference)
		r.targets = append(r.targets, report.Target{
			ID: fmt.Sprintf("untagged-%d", i/2), What: "added to a write on a table without a tree: " + writes[i],
			Relation: report.Under, Limit: 1000, Unit: "ns", Measured: stats.SpreadOf(difference),
		})
	}
	r.tables = append(r.tables, report.NewTable("added", "what the plugin adds", "ns", "", names, differences))
	return r, nil
}

// untaggedWrite is a kind of write.
type untaggedWrite struct {
	name string
	run  func(db *gorm.DB) error
}

func untaggedWrites() []untaggedWrite {
	return []untaggedWrite{
		{"create", func(db *gorm.DB) error { return db.Create(&Untagged{ID: 1, Name: "a"}).Error }},
		{"update", func(db *gorm.DB) error { return db.Model(&Untagged{ID: 1}).Update("name", "b").Error }},
		{"delete", func(db *gorm.DB) error { return db.Delete(&Untagged{ID: 1}).Error }},
		{"raw SQL", func(db *gorm.DB) error { return db.Exec("UPDATE untaggeds SET name = ? WHERE id = ?", "b", 1).Error }},
	}
}

// nowhere is a database that does nothing, at once.
type nowhere struct{}

var (
	_ driver.Connector     = nowhere{}
	_ driver.ExecerContext = nowhere{}
)

func (n nowhere) Connect(context.Context) (driver.Conn, error) { return n, nil }
func (n nowhere) Driver() driver.Driver                        { return n }
func (n nowhere) Open(string) (driver.Conn, error)             { return n, nil }
func (nowhere) Close() error                                   { return nil }
func (nowhere) Begin() (driver.Tx, error)                      { return nil, io.ErrUnexpectedEOF }
func (nowhere) Prepare(string) (driver.Stmt, error)            { return nil, io.ErrUnexpectedEOF }
func (nowhere) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return written{}, nil
}

// written is nowhere's result of every write.
type written struct{}

func (written) LastInsertId() (int64, error) { return 1, nil }
func (written) RowsAffected() (int64, error) { return 1, nil }
