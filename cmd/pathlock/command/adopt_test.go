package command_test

import (
	"database/sql"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// fsckFlags are flags of fsck that describe a table, by name, with their defaults.
type fsckFlags map[string]string

// parseFlags reads flags as they are pasted. The name of a single tree is free.
func parseFlags(line string) fsckFlags {
	f := fsckFlags{"key": "id", "tree-column": "plan_id", "parent": "parent_id", "name": "name", "path": "path", "deleted": "deleted_at", "path-form": "/*/*", "id-path-form": "/*/*"}
	words := strings.Fields(strings.ReplaceAll(line, "'", ""))
	for i, word := range words {
		name, value, assigned := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		switch {
		case !strings.HasPrefix(word, "--"):
		case name == "single-tree":
			f["tree-column"] = ""
		case assigned:
			f[name] = value
		default:
			f[name] = words[i+1]
		}
	}
	return f
}

// fits reports whether an answer has these flags, but for some. A plus stands for a column that is
// not created with the table.
func (f fsckFlags) fits(got fsckFlags, created, except string) bool {
	all := maps.Clone(f)
	maps.Copy(all, got)
	return !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(name string) bool {
		right := f[name] == got[name] || f[name] == "+" && !strings.Contains(created, " "+got[name]+" ")
		return !right && !strings.Contains(except, " "+name+" ")
	})
}

// trial is a file in testdata/adopt: the tables of a program, with what a developer would write for
// them. Its lines "fsck" and "or" have flags, "also" what may be missing, "unsupported" a part of
// the reason.
type trial struct {
	sql, databases    string
	fsck              map[string][]fsckFlags
	also, unsupported map[string]string

	url string
	db  *sql.DB
}

// eachTrial runs a test on a database for each file.
func eachTrial(t *testing.T, database string, newURL func(t *testing.T) string, test func(t *testing.T, tr trial)) {
	files := must(filepath.Glob("testdata/adopt/*.sql"))
	if len(files) < 25 {
		t.Fatalf("there are only %d files", len(files))
	}
	for _, file := range files {
		text := string(must(os.ReadFile(file)))
		tr := trial{sql: text, databases: database, fsck: map[string][]fsckFlags{}, also: map[string]string{}, unsupported: map[string]string{}}
		for line := range strings.Lines(strings.ReplaceAll(text, "\n--   ", " ")) {
			kind, rest, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "-- ")), ": ")
			table, why, _ := strings.Cut(rest, ": ")
			switch f := parseFlags(rest); kind {
			case "fsck", "or":
				tr.fsck[f["table"]] = append(tr.fsck[f["table"]], f)
			case "also":
				tr.also[table] = why
			case "unsupported":
				tr.unsupported[table] = why
			case "databases":
				tr.databases = rest
			}
		}
		if !strings.Contains(tr.databases, database) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			tr.open(t, newURL(t))
			tr.db.SetMaxOpenConns(1)
			if database == "mysql" {
				tr.exec(t, "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')")
			}
			for statement := range strings.SplitSeq(strings.TrimSpace(text), ";\n") {
				tr.exec(t, statement)
			}
			test(t, tr)
		})
	}
}

// eachEmpty runs a test on an empty database of each kind.
func eachEmpty(t *testing.T, test func(t *testing.T, tr trial)) {
	t.Parallel()
	testserver.EachDatabase(t, func(t *testing.T, database string, newURL func(t *testing.T) string) {
		tr := trial{databases: database}
		tr.open(t, newURL(t))
		test(t, tr)
	})
}

func (tr *trial) open(t *testing.T, url string) {
	if file, isFile := strings.CutPrefix(url, "sqlite://"); isFile {
		testerr.Must(t, os.WriteFile(file, nil, 0o600))
	}
	tr.url, tr.db = url, must(must(sqlopen.Parse(url)).Open())
	t.Cleanup(func() { _ = tr.db.Close() })
}

func (tr trial) exec(t *testing.T, statement string) {
	t.Helper()
	testerr.MustBe(t, statement, testerr.Of(tr.db.ExecContext(t.Context(), statement)), nil)
}

// answer is the part of the output of adopt --json that tests look at.
type answer struct {
	Trees []struct {
		Table, Fsck string
		Options     []string
		Rows, Agree int
		Statements  []struct{ SQL, Undo string }
		Leaves      []struct{ Tags []string }
	}
	Unsupported []struct{ Table, Why string }
}

func (tr trial) adopt(t *testing.T, args ...string) (a answer) {
	t.Helper()
	code, out, errs := run(t, append([]string{"adopt", "--db", tr.url, "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	return a
}

// expect compares an answer with the file's, but for some flags. A table has one shape if the
// answer is definite. Otherwise, one of its shapes is right.
func (tr trial) expect(t *testing.T, a answer, definite bool, except string) {
	t.Helper()
	found := map[string]bool{}
	for _, tree := range a.Trees {
		_, created, _ := strings.Cut(strings.ReplaceAll(tr.sql, `"`, ""), "CREATE TABLE "+tree.Table+" (")
		created, _, _ = strings.Cut(" "+created, ");")
		fits := slices.ContainsFunc(tr.fsck[tree.Table], func(f fsckFlags) bool { return f.fits(parseFlags(tree.Fsck), created, except) })
		_, also := tr.also[tree.Table]
		if !also && (tr.fsck[tree.Table] == nil || definite && (!fits || found[tree.Table])) {
			t.Errorf("%s is wrong, or shown twice: %d of %d rows", tree.Fsck, tree.Agree, tree.Rows)
		}
		found[tree.Table] = found[tree.Table] || fits
	}
	for table := range tr.fsck {
		if !found[table] {
			t.Errorf("%s is not recognised: %v", table, a.Trees)
		}
	}
	for table, why := range tr.unsupported {
		if !slices.ContainsFunc(a.Unsupported, func(u struct{ Table, Why string }) bool { return u.Table == table && strings.Contains(u.Why, why) }) {
			t.Errorf("got %v, want that %s is not supported: %s", a.Unsupported, table, why)
		}
	}
}

// whole says that all rows have the shape, that fsck finds nothing once the statements have run and
// it has filled new paths, that no statement is needed then, and that there is a way back. Leaves
// have tags, too.
func whole(t *testing.T, tr trial) {
	a := tr.adopt(t)
	tr.expect(t, a, true, "")
	for _, tree := range a.Trees {
		if tree.Rows == 0 || tree.Agree < tree.Rows {
			t.Errorf("%d of %d rows agree with %s", tree.Agree, tree.Rows, tree.Fsck)
		}
		added := false
		for _, s := range tree.Statements {
			tr.exec(t, s.SQL)
			added = added || strings.Contains(s.SQL, "ADD COLUMN")
		}
		args := append([]string{"fsck", "--db", tr.url}, strings.Fields(strings.ReplaceAll(tree.Fsck, "'", ""))...)
		code, out, errs := run(t, args...)
		for line := range strings.Lines(out) {
			added = added && (strings.HasPrefix(line, "wrong-") || strings.Contains(line, " rows, "))
		}
		if added && code == 4 {
			_, _, _ = run(t, append(args, "--repair", "--apply", "--locks", "off")...)
			code, out, errs = run(t, args...)
		}
		if code != 0 {
			t.Errorf("%s: exit code %d: %s%s", tree.Fsck, code, out, errs)
		}
		if leaves := strings.Count(tree.Fsck, "--leaves "); leaves != len(tree.Leaves) || leaves > 0 && !strings.Contains(tree.Leaves[0].Tags[0], `pathlock:"parent"`) {
			t.Errorf("%s: the leaves are %v", tree.Fsck, tree.Leaves)
		}
	}
	for _, tree := range tr.adopt(t).Trees {
		if len(tree.Statements) > 0 {
			t.Errorf("%s still needs %v", tree.Fsck, tree.Statements)
		}
	}
	for _, tree := range slices.Backward(a.Trees) {
		for _, s := range slices.Backward(tree.Statements) {
			if s.Undo != "" {
				tr.exec(t, s.Undo)
			}
		}
	}
	tr.vacant(t, a)
}

// vacant adds the columns, as the start of a new program does: they are to be filled, and all else
// is as it was.
func (tr trial) vacant(t *testing.T, a answer) {
	var want, got []string
	for _, tree := range a.Trees {
		for _, s := range tree.Statements {
			if strings.Contains(s.SQL, "ADD COLUMN") && !strings.Contains(s.SQL, " VIRTUAL") {
				tr.exec(t, s.SQL)
			} else {
				want = append(want, s.SQL)
			}
		}
	}
	again := tr.adopt(t)
	tr.expect(t, again, true, "")
	for _, tree := range again.Trees {
		for _, s := range tree.Statements {
			got = append(got, s.SQL)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("with vacant columns, the statements are %q, want %q", got, want)
	}
}

func TestAdopt_programs(t *testing.T) {
	t.Parallel()
	testserver.EachDatabase(t, func(t *testing.T, database string, newURL func(t *testing.T) string) {
		eachTrial(t, database, newURL, whole)
	})
}

func sqliteURL(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "trial.db") }
