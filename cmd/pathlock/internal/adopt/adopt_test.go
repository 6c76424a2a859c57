package adopt_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/adopt"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// database makes an SQLite file with tables.
func database(t *testing.T, statements ...string) *sql.DB {
	t.Helper()
	db, err := driver.Open("file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "test.db")))
	testerr.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range statements {
		testerr.MustBe(t, statement, testerr.Of(db.ExecContext(t.Context(), statement)), nil)
	}
	return db
}

// adopted returns the report on a database.
func adopted(t *testing.T, statements ...string) adopt.Report {
	t.Helper()
	report, err := adopt.Run(t.Context(), database(t, statements...), fsck.SQLite, adopt.Options{})
	testerr.Must(t, err)
	return report
}

// The rows alone say which columns are the tree, whatever their names are.
func TestRun_recognisesWithoutNames(t *testing.T) {
	for _, c := range []struct{ what, rows, want string }{
		{
			"a path of names", `(1, NULL, 'a', '.a', 9, 'u'), (2, 1, 'b', '.a.b', 8, 'v'), (3, 1, 'c', '.a.c', 7, 'w'), (4, 2, 'd', '.a.b.d', 1, 'x'), (5, NULL, 'e', '.e', 2, 'y'),
				(6, 5, 'a', '.e.a', 3, 'z'), (7, 6, 'b', '.e.a.b', 3, 'z'), (8, 6, 'f', '.e.a.f', 4, 'q'), (9, 4, 'g', '.a.b.d.g', 5, ''), (10, 9, 'h', '.a.b.d.g.h', 5, NULL)`,
			"--key x1 --single-tree we irds --parent x2 --name order --path x4 --path-form .*.* --deleted=",
		},
		{
			"a path of ids", `(1, 0, '', '1,', 9, 'u'), (2, 1, 'b', '1,2,', 8, 'v'), (3, 1, 'c', '1,3,', 7, 'w'), (4, 2, 'd', '1,2,4,', 1, 'x'), (5, 0, 'e/', '5,', 2, 'y')`,
			"--key x1 --single-tree we irds --parent x2 --name= --path= --id-path x4 --id-path-form *,*, --deleted=",
		},
		{
			"another path of ids", `(1, 0, '', '/1/', 9, 'u'), (2, 1, 'b', '/1/2/', 8, 'v'), (3, 1, 'c', '/1/3/', 7, 'w'), (4, 2, 'd', '/1/2/4/', 1, 'x'), (5, 0, 'e/', '/5/', 2, 'y')`,
			"--key x1 --single-tree we irds --parent x2 --name= --path= --id-path x4 --id-path-form /*/*/ --deleted=",
		},
		{
			"the path of the parent", `(1, 0, 'a', 'root:', 9, 'u'), (2, 1, 'b', 'root:a:', 8, 'v'), (3, 2, 'c', 'root:a:b:', 7, 'w'), (4, 3, 'd', 'root:a:b:c:', 1, 'x')`,
			"--key x1 --single-tree we irds --parent x2 --name order --path x4 --path-form parent:root:*:*: --deleted=",
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			trees := adopted(t, `CREATE TABLE "we ird" (x1 INTEGER PRIMARY KEY, x2 INTEGER, "order" TEXT, x4 TEXT, x5 INTEGER, x6 TEXT)`, `INSERT INTO "we ird" VALUES `+c.rows).Trees
			if got := strings.ReplaceAll(trees[0].Fsck, "'", ""); len(trees) != 1 || got != "--table we ird "+c.want || trees[0].Agree != trees[0].Rows {
				t.Errorf("got %d trees, %s, and %d of %d rows", len(trees), got, trees[0].Agree, trees[0].Rows)
			}
		})
	}
}

// Rows that do not have the shape are counted, and three of them are explained; deleted ones are
// none. Two columns that fit equally are both shown.
func TestRun_shows(t *testing.T) {
	const table = `CREATE TABLE folders (id INTEGER PRIMARY KEY, parent_id INTEGER, title TEXT, label TEXT, path TEXT, deleted_at DATETIME)`
	rows := []string{"(1, NULL, 'a', 'a', '/a', NULL)"}
	for i := 2; i < 20; i++ {
		rows = append(rows, fmt.Sprintf("(%d, 1, 'n%[1]d', 'n%[1]d', '/a/n%[1]d', NULL)", i))
	}
	rows = append(rows, "(20, 99, 'x', 'x', '/a/x', NULL)", "(21, 22, 'y', 'y', '/y', NULL)", "(22, 21, 'z', 'z', '/z', NULL)", "(23, 1, 'w', 'w', '/old/w', NULL)", "(24, 99, 'v', 'v', '', '2025-01-01')")
	trees := adopted(t, table, "INSERT INTO folders VALUES "+strings.Join(rows, ", ")).Trees
	var names []string
	for _, tree := range trees {
		names = append(names, tree.Fsck)
		if tree.Rows != 23 || tree.Agree != 19 || len(tree.Disagree) != 3 || tree.Disagree[0] != (adopt.Disagree{Key: "20", Why: "its parent 99 is missing or deleted"}) {
			t.Errorf("%d of %d rows agree, and %v do not", tree.Agree, tree.Rows, tree.Disagree)
		}
		if i := slices.IndexFunc(tree.Findings, func(f string) bool { return strings.Contains(f, "cycle") }); i < 0 {
			t.Errorf("fsck finds %v, want a cycle", tree.Findings)
		}
	}
	slices.Sort(names)
	if want := []string{"--table folders --single-tree folders --name label", "--table folders --single-tree folders --name title"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// The statements of a table without a parent fill it within each tree, name what they cannot fill,
// and can be undone.
func TestRun_fillsParents(t *testing.T) {
	db := database(t, `CREATE TABLE files (id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, name TEXT, dir TEXT)`,
		`INSERT INTO files VALUES (1, 1, 'a', ''), (2, 1, 'b', 'a/'), (3, 1, 'c', 'a/b/'), (4, 2, 'a', ''), (5, 2, 'b', 'a/'), (6, 2, 'd', 'a/b/'), (7, 2, 'e', 'lost/')`)
	report, err := adopt.Run(t.Context(), db, fsck.SQLite, adopt.Options{Table: "files"})
	if err != nil || len(report.Trees) != 1 {
		t.Fatalf("got %+v, %v", report, err)
	}
	tree, text := report.Trees[0], report.Text()
	if want := "--table files --tree-column uid --path dir --path-form parent:*/*/ --deleted="; tree.Fsck != want || !strings.Contains(text, "1 rows have none") {
		t.Errorf("got %s, want %s, in\n%s", tree.Fsck, want, text)
	}
	for _, s := range tree.Statements {
		testerr.MustBe(t, s.SQL, testerr.Of(db.ExecContext(t.Context(), s.SQL)), nil)
	}
	var parents string
	if err := db.QueryRowContext(t.Context(), `SELECT GROUP_CONCAT(COALESCE(parent_id, 'top'), ' ') FROM (SELECT * FROM files ORDER BY id)`).Scan(&parents); err != nil || parents != "top 1 2 top 4 5 -1" {
		t.Errorf("the parents are %s (%v)", parents, err)
	}
	slices.Reverse(tree.Statements)
	for _, s := range tree.Statements {
		testerr.MustBe(t, s.Undo, testerr.Of(db.ExecContext(t.Context(), s.Undo)), nil)
	}
	if again, err := adopt.Run(t.Context(), db, fsck.SQLite, adopt.Options{}); err != nil || len(again.Trees) != 1 || again.Trees[0].Fsck != tree.Fsck {
		t.Errorf("after the way back: %+v (%v)", again, err)
	}
}

// A path that several rows have is evidence against a shape. No row gets one of several parents.
func TestRun_choosesNoParent(t *testing.T) {
	db := database(t, `CREATE TABLE files (id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, sid INTEGER NOT NULL, title TEXT, name TEXT, dir TEXT)`,
		`INSERT INTO files VALUES (1, 1, 7, 'r', 'a', ''), (2, 1, 7, 's', 'b', 'a/'), (3, 1, 7, 't', 'c', 'a/b/'), (4, 2, 7, 'u', 'a', ''), (5, 2, 7, 'v', 'b', 'a/'),
			(6, 1, 8, 'w', 'a', ''), (7, 1, 8, 'x', 'b', 'a/'), (8, 1, 8, 'y', 'd', 'a/b/'), (9, 1, 8, 'z', 'e', 'a/')`)
	for _, c := range []struct {
		opts          adopt.Options
		want, parents string
		agree         int
	}{
		{adopt.Options{}, "--tree-column uid_sid", "top 1 2 top 4 top 6 7 6", 9},
		{adopt.Options{Tree: "sid", Name: "name"}, "--tree-column sid", "top -1 -1 top -1 top 6 7 6", 4},
	} {
		c.opts.Table = "files"
		report, err := adopt.Run(t.Context(), db, fsck.SQLite, c.opts)
		if err != nil || len(report.Trees) != 1 || report.Trees[0].Agree != c.agree || report.Trees[0].Fsck != "--table files "+c.want+" --path dir --path-form parent:*/*/ --deleted=" {
			t.Fatalf("got %+v, %v", report, err)
		}
		statements := slices.DeleteFunc(report.Trees[0].Statements, func(s adopt.Statement) bool { return strings.Contains(s.SQL, "INDEX") })
		for _, s := range statements {
			testerr.MustBe(t, s.SQL, testerr.Of(db.ExecContext(t.Context(), s.SQL)), nil)
		}
		var parents string
		if err := db.QueryRowContext(t.Context(), `SELECT GROUP_CONCAT(COALESCE(parent_id, 'top'), ' ') FROM (SELECT * FROM files ORDER BY id)`).Scan(&parents); err != nil || parents != c.parents {
			t.Errorf("%s: the parents are %s (%v)", c.want, parents, err)
		}
		slices.Reverse(statements)
		for _, s := range statements {
			testerr.MustBe(t, s.Undo, testerr.Of(db.ExecContext(t.Context(), cmp.Or(s.Undo, "SELECT 1"))), nil)
		}
	}
	// One user has both storages, but the next one may have the same folders.
	testerr.Must(t, testerr.Of(db.ExecContext(t.Context(), "DELETE FROM files WHERE uid = 2")))
	if report, err := adopt.Run(t.Context(), db, fsck.SQLite, adopt.Options{}); err != nil || !strings.Contains(report.Trees[0].Fsck, "--tree-column uid_sid") || report.Trees[0].Agree != 7 {
		t.Errorf("got %+v, %v", report, err)
	}
	if _, err := adopt.Run(t.Context(), db, fsck.SQLite, adopt.Options{Table: "files", Name: "nam"}); err == nil || !strings.Contains(err.Error(), `no column "nam"`) {
		t.Errorf("got the error %v", err)
	}
}

// A broken tree is still one: it has parents, and paths that are spelt with keys.
func TestRun_recognisesBrokenTrees(t *testing.T) {
	const table = `CREATE TABLE dept (id INTEGER PRIMARY KEY, parent_id INTEGER, ancestors TEXT, name TEXT)`
	const ids, names = "--name= --path= --id-path ancestors --id-path-form parent:0,*,*", "--path ancestors"
	var many []string
	for i := 1; i <= 99; i++ {
		path, top := "0", i
		for ; top > 4 && i%5 > 0; top /= 4 { // four of five rows have moved since
			path += fmt.Sprintf(",%d", 99-top)
		}
		if i%5 == 0 {
			path = fmt.Sprintf("0,%d", i/30)
			if i < 30 {
				path = "0"
			}
		}
		many = append(many, fmt.Sprintf("(%d, %d, '%s', 'd%d')", i, i/30, path, i%7))
	}
	for _, c := range []struct {
		what, rows, columns, note string
	}{
		{"a cycle", `(1, 0, '0', 'a'), (2, 1, '0,1', 'b'), (4, 6, '0,1,4,5,6', 'd'), (5, 4, '0,1,4', 'e'), (6, 5, '0,1,4,5', 'f'), (3, 6, '0,1,4,5,6', 'c')`, ids, "2 of 6 rows agree"},
		{"no row at the top", `(1, 3, '0,1,2,3', 'a'), (2, 1, '0,1', 'b'), (3, 2, '0,1,2', 'c')`, ids, "0 of 3 rows agree"},
		{"80 of 99 rows", strings.Join(many, ", "), ids, "of 99 rows agree: repair it by fsck (step 5 of"},
		{"names", `(1, 0, '/a', 'a'), (2, 1, '/c/b', 'b'), (3, 2, '/a/x/c', 'c'), (4, 3, '/a/c/d', 'd'), (5, 4, '/a/c/d/e', 'e'), (6, 4, '/a/c/d/f', 'f')`, names, "1 of 6 rows agree"},
	} {
		t.Run(c.what, func(t *testing.T) {
			trees := adopted(t, table, "INSERT INTO dept VALUES "+c.rows).Trees
			if len(trees) != 1 || trees[0].Fsck != "--table dept --single-tree departments "+c.columns+" --deleted=" ||
				!strings.Contains(strings.Join(trees[0].Notes, "\n"), c.note) {
				t.Errorf("got %+v", trees)
			}
		})
	}
}

// Where no row has a parent yet, names of columns are all that there is, as in an empty table.
func TestRun_judgesNothingWithoutParents(t *testing.T) {
	for _, c := range []struct{ rows, want, note string }{
		{"INSERT INTO dictionary_details VALUES (1, 0, 1, 0, '0'), (2, 0, 1, 0, '0'), (3, 0, 2, 0, '0')", "--tree-column dictionary_id --name= --path= --id-path ancestors --id-path-form parent:0,*,* --depth level --depth-top 0 --deleted=", "no row has a parent yet"},
		{"SELECT 1", "--tree-column dictionary_id --name= --path= --id-path ancestors --id-path-form parent:0,*,* --depth level --deleted=", "the table is empty"},
	} {
		report := adopted(t, `CREATE TABLE dictionary_details (id INTEGER PRIMARY KEY, parent_id INTEGER, dictionary_id INTEGER, level INTEGER, ancestors TEXT)`, c.rows)
		tree := report.Trees[0]
		if tree.Agree != 0 || tree.Fsck != "--table dictionary_details "+c.want || !strings.Contains(tree.Notes[0], c.note) || strings.Contains(report.Text(), "agree") {
			t.Errorf("got %+v", tree)
		}
	}
}

// A tree of ids says which columns tell siblings apart, and takes the one that a unique index keeps
// so.
func TestRun_saysWhatTellsSiblingsApart(t *testing.T) {
	db := database(t, `CREATE TABLE menu (id INTEGER PRIMARY KEY, parent_id INTEGER, code TEXT, title TEXT, icon TEXT, slug TEXT, ids TEXT, deleted_at DATETIME)`,
		`INSERT INTO menu VALUES (1, NULL, 'a', 'A', 'x', 's1', '1.', NULL), (2, 1, 'b', 'B', 'y', 's2', '1.2.', NULL), (3, 1, 'c', 'B', 'z', 's3', '1.3.', NULL), (4, 2, 'b', 'D', 'x', 's4', '1.2.4.', NULL)`)
	for _, c := range []struct {
		name, flag, note string
	}{
		{"", "--name=", "by slug: ResolverBy needs a unique index; 0 rows have no value of their own no column is tagged name, so that siblings may share one: code is different in 4 of 4, slug is different in 4 of 4: to keep"},
		{"code", "--name code", ""},
		{"", "--name code", ""}, // by the index
	} {
		report, err := adopt.Run(t.Context(), db, fsck.SQLite, adopt.Options{Table: "menu", Name: c.name})
		testerr.Must(t, err)
		tree := report.Trees[0]
		if !strings.Contains(tree.Fsck, c.flag+" ") || !strings.Contains(strings.Join(tree.Notes, " "), c.note) || len(tree.Notes) > 1 && c.note == "" {
			t.Errorf("got %+v, want %s and %s", tree, c.flag, c.note)
		}
		for _, s := range tree.Statements {
			testerr.MustBe(t, s.SQL, testerr.Of(db.ExecContext(t.Context(), s.SQL)), nil)
		}
	}
}

// A table without a tree is no tree, and says so if it was asked for.
func TestRun_findsNone(t *testing.T) {
	db := database(t, `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, sort INTEGER, url TEXT)`,
		`INSERT INTO users VALUES (1, 'a', 'a@x.example', 1, 'https://a.example/'), (2, 'b', 'b@x.example', 1, 'https://b.example/x'), (3, 'c', 'c@x.example', 2, '/a/c')`,
		`CREATE TABLE links (id INTEGER PRIMARY KEY, user_id INTEGER, title TEXT, url TEXT)`, `INSERT INTO links VALUES (1, 1, 'a', '/x/y'), (2, 1, 'b', '/x'), (3, 2, 'c', '/x/z/w')`)
	for _, statement := range []string{
		`CREATE TABLE bin (id INTEGER PRIMARY KEY, name TEXT, origin TEXT)`,
		`INSERT INTO bin VALUES (1, 'a', '/x'), (2, 'a.txt', '/y'), (3, 'b', '/x'), (4, 'b.txt', '/z'), (5, 'c.txt', '/z'), (6, 'd.txt', '/x'), (7, 'e.tar', '/z'), (8, 'f.jpg', '/w'), (9, 'g', '/x'), (10, 'c', '/x')`,
	} {
		testerr.MustBe(t, statement, testerr.Of(db.ExecContext(t.Context(), statement)), nil)
	}
	if report, err := adopt.Run(t.Context(), db, fsck.SQLite, adopt.Options{}); err != nil || report.Text() != "no table holds a tree\n" {
		t.Errorf("got %s (%v)", report.Text(), err)
	}
	for _, table := range []string{"users", "nobody"} {
		if _, err := adopt.Run(t.Context(), db, fsck.SQLite, adopt.Options{Table: table}); err == nil || !strings.Contains(err.Error(), `"`+table+`"`) {
			t.Errorf("%s: got the error %v", table, err)
		}
	}
}
