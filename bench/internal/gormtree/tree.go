package gormtree

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Suite is a row of the tree.
type Suite struct {
	ID       int64
	PlanID   int64  `pathlock:"tree" gorm:"uniqueIndex:sibling,priority:1;index:path,priority:1"`
	ParentID *int64 `pathlock:"parent" gorm:"uniqueIndex:sibling,priority:2"`
	Name     string `pathlock:"name" gorm:"size:100;uniqueIndex:sibling,priority:3"`
	Path     string `pathlock:"path" gorm:"size:500;index:path,priority:2"`
	// Note is a column that no path depends on.
	Note string `gorm:"size:100"`
}

// PlanID is the id of the only plan.
const PlanID = 1

// Tree is a plan in a database of its own.
type Tree struct {
	// Guarded uses the plugin, and Plain does not. Each has one connection.
	Guarded, Plain *gorm.DB
	Locker         *pathlock.Locker
	// Root is the plan's root row.
	Root Suite

	name  string
	admin *sql.DB
	pools []*sql.DB
}

// Open creates a database on the server that dsn names. Close drops it.
func Open(ctx context.Context, dsn string) (*Tree, error) {
	config, err := mysqldriver.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("the server's DSN: %w", err)
	}
	config.ParseTime, config.InterpolateParams = true, true
	t := &Tree{name: "pathlock_bench_" + strings.ToLower(rand.Text()[:8]), Locker: pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.DiscardHandler)))}
	if t.admin, err = connect(config); err != nil {
		return nil, err
	}
	if err := t.fill(ctx, config); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// fill creates the database, its table and the root row.
func (t *Tree) fill(ctx context.Context, config *mysqldriver.Config) error {
	if _, err := t.admin.ExecContext(ctx, "CREATE DATABASE "+t.name+" CHARACTER SET utf8mb4"); err != nil {
		return fmt.Errorf("making a database: %w", err)
	}
	config.DBName = t.name
	for _, db := range []**gorm.DB{&t.Plain, &t.Guarded} {
		pool, err := connect(config)
		if err != nil {
			return err
		}
		t.pools = append(t.pools, pool)
		if *db, err = gorm.Open(mysql.New(mysql.Config{Conn: pool}), &gorm.Config{Logger: logger.Discard}); err != nil {
			return fmt.Errorf("opening the database: %w", err)
		}
	}
	if err := t.Guarded.Use(gormplugin.New(t.Locker, gormplugin.Model(&Suite{}))); err != nil {
		return err
	}
	if err := gormplugin.AutoMigrate(t.Guarded.WithContext(ctx), &Suite{}); err != nil {
		return fmt.Errorf("making the table: %w", err)
	}
	t.Root = Suite{PlanID: PlanID}
	return t.Guarded.WithContext(ctx).Create(&t.Root).Error
}

// connect returns a pool of one connection.
func connect(config *mysqldriver.Config) (*sql.DB, error) {
	connector, err := mysqldriver.NewConnector(config.Clone())
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	return pool, nil
}

// Close drops the database.
func (t *Tree) Close() error {
	var errs []error
	for _, pool := range t.pools {
		errs = append(errs, pool.Close())
	}
	_, err := t.admin.ExecContext(context.Background(), "DROP DATABASE IF EXISTS "+t.name)
	return errors.Join(append(errs, err, t.admin.Close())...)
}

// Chain creates rows, each below the one before and the first below the root, and returns the last.
func (t *Tree) Chain(ctx context.Context, names ...string) (*Suite, error) {
	at := &t.Root
	for _, name := range names {
		next := &Suite{ParentID: &at.ID, Name: name}
		if err := t.Guarded.WithContext(ctx).Create(next).Error; err != nil {
			return nil, fmt.Errorf("making the row %q: %w", name, err)
		}
		at = next
	}
	return at, nil
}

// Fill gives a row n descendants, a hundred in each row below it.
func (t *Tree) Fill(ctx context.Context, top *Suite, n int) error {
	const fan = 100
	db := t.Guarded.WithContext(ctx)
	for made := 0; made < n; {
		parent := &Suite{ParentID: &top.ID, Name: fmt.Sprintf("folder-%d", made)}
		if err := db.Create(parent).Error; err != nil {
			return err
		}
		made++
		var rows []Suite
		for ; len(rows) < fan-1 && made < n; made++ {
			rows = append(rows, Suite{ParentID: &parent.ID, Name: fmt.Sprintf("suite-%d", made)})
		}
		if len(rows) > 0 {
			if err := db.Create(rows).Error; err != nil {
				return err
			}
		}
	}
	return t.Plain.WithContext(ctx).Exec("ANALYZE TABLE suites").Error
}

// Check fails if the path of a row does not follow from its parent's path.
func (t *Tree) Check(ctx context.Context) error {
	var wrong []string
	err := t.Plain.WithContext(ctx).Raw(`SELECT s.path FROM suites s LEFT JOIN suites above ON above.id = s.parent_id
		WHERE s.path <> CONCAT(above.path, '/', s.name) OR above.id IS NULL AND s.id <> ?`, t.Root.ID).Scan(&wrong).Error
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("the tree is broken: %q", wrong)
	}
	return err
}

// Statements returns how many statements the connection of db has sent so far, without this one.
func Statements(ctx context.Context, db *gorm.DB) (int64, error) {
	counters, err := counted(ctx, db)
	return counters["Questions"] - 1, err
}

// StatementsInside is [Statements] without BEGIN and COMMIT.
func StatementsInside(ctx context.Context, db *gorm.DB) (int64, error) {
	counters, err := counted(ctx, db)
	return counters["Questions"] - 1 - counters["Com_begin"] - counters["Com_commit"], err
}

// counted returns the counters of db's connection.
func counted(ctx context.Context, db *gorm.DB) (map[string]int64, error) {
	var rows []struct {
		VariableName string
		Value        int64
	}
	err := db.WithContext(ctx).Raw("SHOW SESSION STATUS WHERE Variable_name IN ('Questions', 'Com_begin', 'Com_commit')").Scan(&rows).Error
	counters := make(map[string]int64)
	for _, r := range rows {
		counters[r.VariableName] = r.Value
	}
	return counters, err
}
