package gormplugintest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// schemaWorld is a database with guarded tables.
type schemaWorld struct {
	*world
	// binary is the collation that MySQL or MariaDB has for texts that differ if their bytes do.
	binary string
}

// newSchemaWorld connects with the plugin for the models, and makes no table. Without models, it
// takes all of them.
func newSchemaWorld(t *testing.T, d Database, models ...gormplugin.Option) *schemaWorld {
	t.Helper()
	if len(models) == 0 {
		models = []gormplugin.Option{gormplugin.Model(&Branch{}), gormplugin.Leaf(&Fruit{}, &Branch{}), gormplugin.Model(&Plain{})}
	}
	return &schemaWorld{machineWorld(t, d, settings{}, models), strings.TrimPrefix(d.TableOptions, "COLLATE ")}
}

// exec runs a statement that the plugin need not like. MySQL alone asks for an index's table.
func (w *schemaWorld) exec(statement string) {
	w.Helper()
	if strings.HasPrefix(statement, "DROP INDEX") && w.db.Name() != "mysql" {
		statement, _, _ = strings.Cut(statement, " ON ")
	}
	statement = strings.ReplaceAll(statement, "${binary}", w.binary)
	testerr.MustBe(w, statement, gormplugin.AllowRawWrites(w.db).Exec(statement).Error, nil)
}

// findings are what [gormplugin.Verify] finds.
func (w *schemaWorld) findings() []gormplugin.Finding {
	w.Helper()
	err := gormplugin.Verify(w.db)
	if err == nil {
		return nil
	}
	found, ok := errors.AsType[*gormplugin.SchemaError](err)
	if !ok {
		w.Fatalf("got %v, want a SchemaError", err)
	}
	unsafe := slices.ContainsFunc(found.Findings, func(f gormplugin.Finding) bool { return f.Severity == gormplugin.Unsafe })
	if errors.Is(err, gormplugin.ErrUnsafeSchema) != unsafe {
		w.Errorf("the error is ErrUnsafeSchema: %t; the findings are %v", !unsafe, found.Findings)
	}
	for _, f := range found.Findings {
		if f.Missing == "" || f.Why == "" || len(f.Statements) == 0 && f.Advice == "" {
			w.Errorf("the finding %#v says too little", f)
		}
	}
	return found.Findings
}

// described are findings as a [flaw] wants them.
func described(findings []gormplugin.Finding) string {
	texts := make([]string, len(findings))
	for i, f := range findings {
		texts[i] = fmt.Sprint(f.Severity, " ", f.Check)
		if len(f.Statements) == 0 {
			texts[i] += " in words"
		}
	}
	return strings.Join(texts, ", ")
}

// RunSchema checks [gormplugin.Verify] and [gormplugin.AutoMigrate] on databases that the function
// makes, each empty and used by nobody else.
func RunSchema(t *testing.T, fresh func(*testing.T) Database) {
	t.Helper()
	for _, p := range []topic{
		{"flaws", checkFlaws}, {"types", checkTypes}, {"kept", checkKept}, {"known", checkKnown},
		{"old model", checkOldModel}, {"unfilled", checkUnfilled},
		{"unfilled values", checkUnfilledValues}, {"cascade", checkCascade}, {"at once", CheckAtOnce},
		{"duplicates", checkDuplicates}, {"neighbours", checkNeighbours},
		{"a dropped index", checkDroppedIndex}, {"locks elsewhere", checkElsewhere},
	} {
		t.Run(p.name, func(t *testing.T) { p.check(t, fresh(t)) })
	}
}

// checkFlaws makes one flaw after the other, and checks that it is found, that AutoMigrate adds
// what a finding says to add and returns the rest, and that statements mend what they are for.
func checkFlaws(t *testing.T, d Database) {
	for _, f := range flaws(newSchemaWorld(t, d).db.Name()) {
		t.Run(f.name, func(t *testing.T) {
			w := newSchemaWorld(t, d)
			w.plugin.ResolverBy(&Fruit{}, "code")
			w.clear()
			w.must(gormplugin.AutoMigrate(w.db, &Other{}))
			if found := w.findings(); found != nil {
				t.Fatalf("after AutoMigrate: %v", found)
			}
			for _, statement := range f.statements {
				w.exec(statement)
			}
			found := w.findings()
			if got := described(found); got != f.want {
				t.Fatalf("found %s, want %s: %v", got, f.want, found)
			}
			err := gormplugin.AutoMigrate(w.db)
			kept := slices.DeleteFunc(found, func(f gormplugin.Finding) bool {
				return f.Adds() || strings.HasPrefix(f.Missing, "there is no ")
			})
			unsafe := slices.ContainsFunc(kept, func(f gormplugin.Finding) bool { return f.Severity == gormplugin.Unsafe })
			if unsafe && !errors.Is(err, gormplugin.ErrUnsafeSchema) || !unsafe && err != nil {
				t.Errorf("AutoMigrate: %v", err)
			}
			left := w.findings()
			if got, want := described(left), described(kept); got != want {
				t.Errorf("after AutoMigrate: %s, want %s: %v", got, want, left)
			}
			for _, finding := range left {
				for _, statement := range finding.Statements {
					w.exec(statement)
				}
			}
			for _, finding := range w.findings() {
				inWords := func(f gormplugin.Finding) bool { return f.Missing == finding.Missing && len(f.Statements) == 0 }
				if !slices.ContainsFunc(left, inWords) {
					t.Errorf("after the statements: %v", finding)
				}
			}
			if w.db.Name() == "sqlite" {
				w.exec("PRAGMA foreign_keys = OFF")
			}
		})
	}
}

// clear drops all tables.
func (w *schemaWorld) clear() {
	w.Helper()
	w.must(w.db.Migrator().DropTable("heirs", &Fruit{}, &Branch{}, &Plain{}, &Other{}))
}

// checkDuplicates checks that siblings of one name keep an index from being made.
func checkDuplicates(t *testing.T, d Database) {
	w := newSchemaWorld(t, d)
	// GORM's own AutoMigrate makes no unique index; nobody guards the rows, as in a tree from
	// before.
	w.must(w.db.AutoMigrate(&Branch{}))
	w.exec("INSERT INTO branches (id, tree_id, parent_id, name, path) VALUES (1, 7, NULL, 'top', '/top'), (2, 7, NULL, 'top', '/top'), (3, 7, 1, 'a', '/top/a')")
	w.exec("INSERT INTO branches (id, tree_id, parent_id, name, path, deleted) VALUES (4, 7, 1, 'a', '/top/a', '2001-01-01 00:00:00')")
	for _, change := range []string{
		"UPDATE branches SET parent_id = NULL WHERE id = 2",
		"UPDATE branches SET parent_id = 0 WHERE id = 2",
	} {
		w.exec(change)
		if err := gormplugin.AutoMigrate(w.db); !errors.Is(err, gormplugin.ErrNameTaken) || !strings.Contains(err.Error(), "pathlock fsck") {
			t.Errorf("%s: got the error %v", change, err)
		}
	}
	w.exec("DELETE FROM branches WHERE id = 2")
	if err := gormplugin.AutoMigrate(w.db); !errors.Is(err, gormplugin.ErrUnsafeSchema) {
		w.must(err)
	}
	if found := w.findings(); slices.ContainsFunc(found, gormplugin.Finding.Adds) {
		t.Error(found)
	}
}
