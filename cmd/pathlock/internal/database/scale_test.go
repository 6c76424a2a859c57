package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// rowsVariable is the number of rows that TestScale checks. `make fsck-scale` sets it; without it,
// the test is skipped.
const rowsVariable = "PATHLOCK_FSCK_ROWS"

// shapes are trees of n rows: the parent of each row, 0 for none. Row 1 is the first.
var shapes = []struct {
	name string
	// tree and parent of the row id of n.
	tree, parent func(id, n int) int
	// paths is false if the chain is longer than a path can be.
	paths bool
}{
	{"a million siblings", one, func(id, _ int) int { return min(1, id-1) }, true},
	{"ten children each", one, func(id, _ int) int { return (id + 8) / 10 }, true},
	{"chains of 250, a tree each", func(id, _ int) int { return (id-1)/250 + 1 }, func(id, _ int) int {
		if (id-1)%250 == 0 {
			return 0
		}
		return id - 1
	}, true},
	{"one chain, parents first", one, func(id, _ int) int { return id - 1 }, false},
	{"one chain, children first", one, func(id, n int) int { return (id + 1) % (n + 1) }, false},
	{"one cycle", one, func(id, n int) int { return id%n + 1 }, false},
}

func one(int, int) int { return 1 }

// A check, and a repair, take the same memory for a thousand rows as for a million, whatever the
// trees look like. The test prints time and memory. It fails if the heap grows beyond a fixed
// bound.
func TestScale(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(rowsVariable))
	if err != nil {
		t.Skip(rowsVariable + " is not set")
	}
	databases := map[string]func(*testing.T) string{
		"SQLite": func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "test.db")
			create(t, path)
			return "sqlite://" + path
		},
		"PostgreSQL": func(t *testing.T) string { return ownDatabase(t, testserver.Postgres(t), "") },
	}
	for _, server := range testserver.MySQLServers(t) {
		databases[server.Product] = func(t *testing.T) string {
			return "mysql://" + ownDatabase(t, "mysql://"+server.DSN+"mysql", "mysql://")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(databases)) {
		t.Run(name, func(t *testing.T) {
			for _, shape := range shapes {
				t.Run(shape.name, func(t *testing.T) {
					db := open(t, databases[name](t))
					load(t, db, name, n, shape.tree, shape.parent, shape.paths)
					dialect := map[string]fsck.Dialect{"SQLite": fsck.SQLite, testserver.MariaDB: fsck.MySQL, testserver.Oracle: fsck.MySQL, "PostgreSQL": fsck.PostgreSQL}[name]
					measure(t, db, dialect, n, shape.paths)
				})
			}
		})
	}
}

// measure checks the table, damages every hundredth row of a sound one, and repairs it.
func measure(t *testing.T, db *sql.DB, dialect fsck.Dialect, n int, sound bool) {
	checker, err := fsck.New(t.Context(), db, dialect, fsck.DefaultTable("suites"))
	if err != nil {
		t.Fatal(err)
	}
	var summary fsck.Summary
	watch(t, "check", func() error {
		summary, err = checker.Check(t.Context(), fsck.Options{}, func(fsck.Problem) error { return nil })
		return err
	})
	t.Logf("%d rows, problems %v", summary.Rows, summary.Problems)
	if summary.Rows != int64(n) || sound && summary.Total() > 0 {
		t.Fatalf("%d rows with %d problems, want %d sound ones", summary.Rows, summary.Total(), n)
	}
	if !sound {
		return
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE suites SET path = 'wrong' WHERE id % 100 = 50`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE suites SET parent_id = 99999999 WHERE id % 1000 = 7`); err != nil {
		t.Fatal(err)
	}
	var repaired fsck.RepairSummary
	watch(t, "repair", func() error {
		repaired, err = checker.Repair(t.Context(), fsck.RepairOptions{Apply: true})
		return err
	})
	t.Logf("before %v, %d changes in %d transactions", repaired.Before.Problems, repaired.Changes, repaired.Transactions)
	if repaired.After.Total() > 0 {
		t.Errorf("left %v", repaired.After.Problems)
	}
}

// heapBound is the largest heap that is allowed. The text of a million rows alone is 200 MB.
const heapBound = 150 << 20

// watch runs f and prints its time, its largest heap, and the largest resident set of the process.
func watch(t *testing.T, what string, f func() error) {
	debug.FreeOSMemory()                                          // of filling the table
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600) // resets the largest resident set
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		highest := uint64(0)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapInuse)
			select {
			case <-stop:
				done <- highest
				return
			case <-tick.C:
			}
		}
	}()
	start := time.Now()
	err := f()
	took := time.Since(start)
	close(stop)
	heap := <-done
	if err != nil {
		t.Fatal(err)
	}
	resident := "unknown"
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for l := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(l, "VmHWM:"); ok {
				resident = strings.TrimSpace(rest)
			}
		}
	}
	t.Logf("%s: %v, heap at most %d MiB, resident at most %s", what, took.Round(10*time.Millisecond), heap>>20, resident)
	if heap > heapBound {
		t.Errorf("%s: the heap grew to %d MiB", what, heap>>20)
	}
}

// ownDatabase creates a database on a server, and returns its URL without a prefix.
func ownDatabase(t *testing.T, server, prefix string) string {
	admin := open(t, server)
	name := fmt.Sprintf("pathlock_fsck_scale_%d", os.Getpid())
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = admin.ExecContext(context.Background(), "DROP DATABASE "+name) })
	if prefix != "" {
		dsn := strings.TrimPrefix(server, prefix)
		return dsn[:strings.LastIndexByte(dsn, '/')+1] + name
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// load fills a table with a tree.
func load(t *testing.T, db *sql.DB, database string, n int, tree, parent func(id, n int) int, withPaths bool) {
	key, text, prefix := "BIGINT PRIMARY KEY AUTO_INCREMENT", "VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "(190)"
	switch database {
	case "SQLite":
		key, text, prefix = "INTEGER PRIMARY KEY", "TEXT", ""
	case "PostgreSQL":
		key, text, prefix = "BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 200000000) PRIMARY KEY", `VARCHAR(1000) COLLATE "C"`, ""
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string) {
		t.Helper()
		if _, err := tx.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	exec(fmt.Sprintf(`CREATE TABLE suites (id %s, plan_id BIGINT NOT NULL, parent_id BIGINT NULL, name VARCHAR(40) NOT NULL, path %s, deleted_at TIMESTAMP NULL)`, key, text))
	paths := make([]string, n+1)
	const batch = 500
	var values strings.Builder
	for id := 1; id <= n; id++ {
		above, name, path := "NULL", fmt.Sprintf("n%d", id), ""
		if p := parent(id, n); p > 0 {
			above = strconv.Itoa(p)
			if withPaths {
				if len(paths[p]) > 400 {
					name = "n"
				}
				path = paths[p] + "/" + name
			}
		} else {
			name = ""
		}
		if withPaths && (tree(id, n) != 1 || id < 200_000) {
			paths[id] = path
		}
		fmt.Fprintf(&values, ",(%d,%d,%s,'%s','%s')", id, tree(id, n), above, name, path)
		if id%batch == 0 || id == n {
			exec("INSERT INTO suites (id, plan_id, parent_id, name, path) VALUES " + values.String()[1:])
			values.Reset()
		}
	}
	exec(fmt.Sprintf(`CREATE INDEX suites_path ON suites (plan_id, path%s)`, prefix))
	exec(`CREATE INDEX suites_sibling ON suites (parent_id, name)`)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if database == "PostgreSQL" {
		if _, err := db.ExecContext(t.Context(), "ANALYZE suites"); err != nil { //nolint:misspell // SQL spells it so
			t.Fatal(err)
		}
	}
}
