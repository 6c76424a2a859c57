package cli_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// flags are those of fsck, by name, with the defaults.
type flags map[string]string

// parseFlags reads flags, quoted as for a shell. A tree's name is free.
func parseFlags(line string) flags {
	f := flags{"key": "id", "tree-column": "plan_id", "parent": "parent_id", "name": "name", "path": "path", "deleted": "deleted_at", "path-form": "/*/*", "id-path-form": "/*/*"}
	words := strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(line))
	for i, word := range words {
		name, value, assigned := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		switch {
		case !strings.HasPrefix(word, "--"):
		case name == "single-tree":
			f["tree-column"] = ""
		case assigned:
			f[name] = value
		case name == "leaves":
			f[name] += words[i+1] + " "
		default:
			f[name] = words[i+1]
		}
	}
	return f
}

// differ says in which flags, other than some, two answers differ. A plus stands for a column that
// the table does not have yet.
func (f flags) differ(got flags, columns, except []string) (names []string) {
	for name := range maps.Keys(f) {
		if f[name] != got[name] && (f[name] != "+" || slices.Contains(columns, got[name])) {
			names = append(names, name)
		}
	}
	for name := range got {
		if _, known := f[name]; !known {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(except, name) })
}

// realProgram is a file in testdata/adopt: a program's tables, and what a developer would write for
// each. Its lines "fsck" and "or" are the flags, "also" is an answer that may be missing, and
// "unsupported" has a part of the reason.
type realProgram struct {
	name, sql, databases string
	fsck                 map[string][]flags
	also                 []string
	unsupported          map[string]string
}

func programs(t *testing.T) (all []realProgram) {
	files, err := filepath.Glob("testdata/adopt/*.sql")
	if err != nil || len(files) < 25 {
		t.Fatalf("there are only %d programs (%v)", len(files), err)
	}
	for _, file := range files {
		text := string(must(os.ReadFile(file)))
		p := realProgram{name: strings.TrimSuffix(filepath.Base(file), ".sql"), sql: text, fsck: map[string][]flags{}, unsupported: map[string]string{}}
		for line := range strings.Lines(strings.ReplaceAll(text, "\n--   ", " ")) {
			kind, rest, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "-- ")), ": ")
			switch f := parseFlags(rest); kind {
			case "fsck", "or":
				p.fsck[f["table"]] = append(p.fsck[f["table"]], f)
			case "also":
				p.also = append(p.also, f["table"])
			case "unsupported":
				table, why, _ := strings.Cut(rest, ": ")
				p.unsupported[table] = why
			case "databases":
				p.databases = rest
			}
		}
		all = append(all, p)
	}
	return all
}

// answer is the output of adopt --json, as far as it is looked at.
type answer struct {
	Trees []struct {
		Table, Fsck string
		Rows, Agree int
		Statements  []struct{ SQL string }
		Findings    []string
	}
	Unsupported []struct{ Table, Why string }
}

// trial is a program's database.
type trial struct {
	realProgram
	url   string
	db    *sql.DB
	quote string
}

func newTrial(t *testing.T, p realProgram, url string) trial {
	d := must(sqlopen.Parse(url))
	db := must(d.Open())
	t.Cleanup(func() { _ = db.Close() })
	conn := must(db.Conn(t.Context()))
	defer func() { _ = conn.Close() }()
	setUp, quote := "SELECT 1", `"`
	if strings.HasPrefix(url, "mysql:") {
		setUp, quote = "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')", "`"
	}
	for _, statement := range append([]string{setUp}, strings.Split(strings.TrimSpace(p.sql), ";\n")...) {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v: %.200s", err, statement)
		}
	}
	return trial{p, url, db, quote}
}

// name quotes a name.
func (tr trial) named(name string) string { return tr.quote + name + tr.quote }

func (tr trial) exec(t *testing.T, statement string, values ...any) {
	t.Helper()
	if _, err := tr.db.ExecContext(t.Context(), statement, values...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (tr trial) adopt(t *testing.T) (a answer) {
	t.Helper()
	code, out, errs := run(t, "adopt", "--db", tr.url, "--json")
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	return a
}

// expect compares an answer with what a developer would write. Of several shapes of a table, one
// has to be that; if the answer has to be definite, it is the only one.
func (tr trial) expect(t *testing.T, a answer, definite bool, except ...string) {
	t.Helper()
	found := map[string]bool{}
	for _, tree := range a.Trees {
		want := tr.fsck[tree.Table]
		rows := must(tr.db.QueryContext(t.Context(), "SELECT * FROM "+tr.named(tree.Table)+" WHERE 1 = 0"))
		columns := must(rows.Columns())
		_ = rows.Close()
		got := parseFlags(tree.Fsck)
		fits := slices.ContainsFunc(want, func(f flags) bool { return len(f.differ(got, columns, except)) == 0 })
		if definite && (!fits || found[tree.Table]) && !slices.Contains(tr.also, tree.Table) || len(want) == 0 && !slices.Contains(tr.also, tree.Table) {
			t.Errorf("%d of %d rows: got %s, twice or wrong (%v)", tree.Agree, tree.Rows, tree.Fsck, slices.Collect(maps.Keys(tr.fsck)))
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

// The tables of real programs are recognised; their rows have the shape, and fsck finds nothing
// once the statements have run and it has filled the new paths.
func TestAdopt_programs(t *testing.T) {
	t.Parallel()
	whole := func(t *testing.T, url func(t *testing.T) string, database string) {
		for _, p := range programs(t) {
			if p.databases != "" && !strings.Contains(p.databases, database) {
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				tr := newTrial(t, p, url(t))
				a := tr.adopt(t)
				tr.expect(t, a, true)
				for _, tree := range a.Trees {
					if tree.Rows == 0 || tree.Agree < tree.Rows {
						t.Errorf("%d of %d rows agree with %s", tree.Agree, tree.Rows, tree.Fsck)
					}
					added := false
					for _, s := range tree.Statements {
						tr.exec(t, s.SQL)
						added = added || strings.Contains(s.SQL, "ADD COLUMN")
					}
					args := append([]string{"fsck", "--db", tr.url}, strings.Fields(strings.NewReplacer("'", "").Replace(tree.Fsck))...)
					code, out, errs := run(t, args...)
					for line := range strings.Lines(out) { // a new column is filled, and nothing else is repaired
						added = added && (strings.HasPrefix(line, "wrong-") || strings.Contains(line, " rows, "))
					}
					if added && code == 4 {
						_, _, _ = run(t, append(args, "--repair", "--apply", "--locks", "off")...)
						code, out, errs = run(t, args...)
					}
					if code != 0 {
						t.Errorf("%s: exit code %d: %s%s", tree.Fsck, code, out, errs)
					}
				}
			})
		}
	}
	t.Run("SQLite", func(t *testing.T) { whole(t, sqliteFile, "sqlite") })
	t.Run("PostgreSQL", func(t *testing.T) { whole(t, postgresDatabase, "postgres") })
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		whole(t, func(t *testing.T) string { return "mysql://" + server.Scratch(t) }, "mysql")
	})
}

// A table's shape is seen although two rows have no path, or three rows
// of ten have another's. Two rows show the key, the parent
// and leaves. Without rows, the names of columns
// still show what is not supported.
func TestAdopt_states(t *testing.T) {
	t.Parallel()
	for _, p := range programs(t) {
		if p.databases != "" && !strings.Contains(p.databases, "sqlite") {
			continue
		}
		for state, set := range map[string]string{
			"blank": `UPDATE %[1]q SET %[2]q = '' WHERE %[3]q IN (SELECT %[3]q FROM %[1]q ORDER BY 1 DESC LIMIT 2)`,
			"stale": `UPDATE %[1]q SET %[2]q = (SELECT %[2]q FROM %[1]q ORDER BY %[3]q DESC LIMIT 1) WHERE %[3]q IN (SELECT %[3]q FROM %[1]q ORDER BY 1 LIMIT 3 OFFSET 3)`,
		} {
			t.Run(p.name+"/"+state, func(t *testing.T) {
				tr := newTrial(t, p, sqliteFile(t))
				for table, want := range p.fsck {
					if path := cmp.Or(want[0]["path"], want[0]["id-path"]); path != "+" {
						tr.exec(t, fmt.Sprintf(set, table, path, want[0]["key"]))
					}
				}
				tr.expect(t, tr.adopt(t), true)
			})
		}
		t.Run(p.name+"/two rows", func(t *testing.T) {
			tr := newTrial(t, p, sqliteFile(t))
			for table, want := range p.fsck {
				f := want[0]
				pair := fmt.Sprintf(`SELECT %q FROM %q ORDER BY 1 LIMIT 2`, f["key"], table)
				if f["parent"] != "+" {
					pair = fmt.Sprintf(`SELECT value FROM (SELECT p.%[2]q a, c.%[2]q b FROM %[1]q p JOIN %[1]q c ON c.%[3]q = p.%[2]q AND c.%[2]q <> p.%[2]q
						WHERE NOT EXISTS (SELECT 1 FROM %[1]q g WHERE g.%[2]q = p.%[3]q AND g.%[2]q <> p.%[2]q) ORDER BY 1, 2 LIMIT 1), json_each(json_array(a, b))`, table, f["key"], f["parent"])
				}
				tr.exec(t, fmt.Sprintf(`DELETE FROM %q WHERE %q NOT IN (%s)`, table, f["key"], pair))
				if leaf, parent, leaves := strings.Cut(f["leaves"], "?parent="); leaves {
					parent, _, _ = strings.Cut(parent, "&")
					tr.exec(t, fmt.Sprintf(`DELETE FROM %q WHERE %q NOT IN (SELECT %q FROM %q)`, leaf, parent, f["key"], table))
				}
			}
			tr.expect(t, tr.adopt(t), false, "tree-column", "deleted", "name", "path", "path-form", "id-path", "id-path-form")
		})
		t.Run(p.name+"/empty", func(t *testing.T) {
			tr := newTrial(t, p, sqliteFile(t))
			for line := range strings.Lines(p.sql) {
				if table, _, created := strings.Cut(strings.TrimPrefix(line, "CREATE TABLE "), " ("); created && strings.HasPrefix(line, "CREATE TABLE ") {
					tr.exec(t, "DELETE FROM "+table)
				}
			}
			for _, tree := range tr.adopt(t).Trees {
				if p.unsupported[tree.Table] != "" {
					t.Errorf("got %s", tree.Fsck)
				}
			}
		})
	}
}

func sqliteFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "trial.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite://" + path
}

// postgresDatabase makes a database, and returns its URL.
func postgresDatabase(t *testing.T) string {
	u := must(url.Parse(testserver.Postgres(t)))
	admin := must(must(sqlopen.Parse(u.String())).Open())
	name := strings.ToLower(fmt.Sprintf("adopt_%d_%s", os.Getpid(), strconv.FormatInt(time.Now().UnixNano(), 36)))
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := admin.ExecContext(context.WithoutCancel(t.Context()), "DROP DATABASE "+name+" WITH (FORCE)")
		if err := errors.Join(err, admin.Close()); err != nil {
			t.Error(err)
		}
	})
	u.Path = "/" + name
	return u.String()
}
