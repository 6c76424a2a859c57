package gormplugintest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// savepointStorms is how many transactions play with savepoints, and savepointSteps how many steps
// each takes.
const (
	savepointStorms = 150
	savepointSteps  = 14
)

// savepointSpellings are names of savepoints, some of which are one name in some databases.
var savepointSpellings = map[string][]string{
	"mysql":    {"s", "S", "`s`", "t", "\u00e9", "e", "\u00c9", "`s `"},
	"postgres": {"s", "S", `"s"`, `"S"`, "t", "\u00e9", "\u00c9", "\"\u00e9\"", `U&"\0073"`},
	"sqlite":   {"s", "S", `"s"`, "'S'", "[s]", "t", "\u00e9", "\u00c9"},
}

// savepointStatements are what a transaction does with a savepoint, with some of which the plugin
// cannot see what they do. Not all of them succeed everywhere.
var savepointStatements = map[string][]string{
	"mysql": {
		"SAVEPOINT %s", "SAVEPOINT %s", "SAVEPOINT %s", "ROLLBACK TO %s", "ROLLBACK TO %s", "RELEASE SAVEPOINT %s", "/*! SAVEPOINT u */", "/*! ROLLBACK TO %s */",
		"EXECUTE IMMEDIATE 'SAVEPOINT v'", "EXECUTE IMMEDIATE 'ROLLBACK TO %s'", "BEGIN NOT ATOMIC SAVEPOINT w; ROLLBACK TO %s; SAVEPOINT x; END",
		"ROLLBACK TO u", "ROLLBACK TO x", "RELEASE SAVEPOINT v", "ROLLBACK TO /*!50000 s */", "RELEASE SAVEPOINT /*! t */",
	},
	"postgres": {"SAVEPOINT %s", "SAVEPOINT %s", "SAVEPOINT %s", "ROLLBACK TO %s", "ROLLBACK TO %s", "RELEASE %s"},
	"sqlite": {
		"SAVEPOINT %s", "SAVEPOINT %s", "SAVEPOINT %s", "ROLLBACK TO %s", "ROLLBACK TO %s", "RELEASE %s", "SELECT 1; SAVEPOINT %s", "ROLLBACK TO %s; SELECT 1",
		"SAVEPOINT t; RELEASE %s; ROLLBACK TO s",
	},
}

// runsOf are the ways in which GORM runs a statement.
var runsOf = map[string]func(tx *gorm.DB, sql string) error{
	"Exec": func(tx *gorm.DB, sql string) error { return tx.Exec(sql).Error },
	"Scan": func(tx *gorm.DB, sql string) error { return tx.Raw(sql).Scan(new([]int)).Error },
	"Rows": func(tx *gorm.DB, sql string) error {
		rows, err := tx.Raw(sql).Rows()
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		defer func() { _ = rows.Close() }()
		return rows.Err()
	},
	"Rows that nobody reads": func(tx *gorm.DB, sql string) error {
		rows, err := tx.Raw(sql).Rows()
		if err != nil {
			return err
		}
		return rows.Close()
	},
	"Row": func(tx *gorm.DB, sql string) error { return tx.Raw(sql).Row().Scan(new(int)) },
}

// savepointStorm does anything with savepoints. No function is told that its row is there, or is
// not, where it is the other way round.
func (w *world) savepointStorm() {
	told := make(map[gormplugin.Outcome]int)
	spellings, forms := savepointSpellings[w.db.Name()], savepointStatements[w.db.Name()]
	ways := slices.Sorted(maps.Keys(runsOf))
	for seed := range savepointStorms {
		random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // It has to be the same each time.
		var script []string
		outcomes := make(map[int64]gormplugin.Outcome)
		tx := w.db.Begin()
		w.must(tx.Error)
		for range savepointSteps {
			if random.IntN(3) == 0 {
				row := new(Other)
				if tx.Create(row).Error != nil {
					continue // PostgreSQL, after an error
				}
				script = append(script, fmt.Sprintf("row %d", row.ID))
				if err := gormplugin.AfterEnd(tx, func(_ context.Context, outcome gormplugin.Outcome) { outcomes[row.ID] = outcome }); err != nil {
					tx.Rollback()
					w.Fatal(err)
				}
				continue
			}
			way, sql := ways[random.IntN(len(ways))], strings.ReplaceAll(forms[random.IntN(len(forms))], "%s", spellings[random.IntN(len(spellings))])
			script = append(script, fmt.Sprintf("%s %s: %v", way, sql, runsOf[way](tx, sql)))
		}
		script = append(script, fmt.Sprintf("commit: %v", tx.Commit().Error))
		for id, outcome := range outcomes {
			told[outcome]++
			there := w.db.Limit(1).Find(new(Other), id).RowsAffected == 1
			if outcome == gormplugin.Committed && !there || outcome == gormplugin.RolledBack && there {
				w.Errorf("seed %d: row %d is there: %t; told %d; %q", seed, id, there, outcome, script)
			}
		}
	}
	w.Logf("unknown: %d, committed: %d, rolled back: %d", told[gormplugin.Unknown], told[gormplugin.Committed], told[gormplugin.RolledBack])
	if told[gormplugin.Committed] < savepointStorms/8 || told[gormplugin.RolledBack] < savepointStorms/8 {
		w.Errorf("too little is certain: %v", told)
	}
}

// savepointNames goes back to savepoints whose names are one name in some databases, and different
// ones in others.
func (w *world) savepointNames() {
	for _, c := range []struct{ in, steps, want string }{
		{"mysql postgres sqlite", "SAVEPOINT s; a; SAVEPOINT t; b; ROLLBACK TO S; c", "a rolled back, b rolled back, c committed"},
		{"postgres", `SAVEPOINT s; a; SAVEPOINT "S"; b; ROLLBACK TO "S"; c`, "a committed, b rolled back, c committed"},
		{"postgres", `SAVEPOINT s; a; SAVEPOINT "S"; b; ROLLBACK TO S; c`, "a rolled back, b rolled back, c committed"},
		{"postgres", `a; SAVEPOINT s; b; SAVEPOINT t; c; ROLLBACK TO U&"\0073"; d`, "a unknown, b unknown, c rolled back, d committed"},
		{"postgres", "a; SAVEPOINT \"\u00c9\"; b; SAVEPOINT \"\u00e9\"; c; ROLLBACK TO \"\u00c9\"; d", "a committed, b rolled back, c rolled back, d committed"},
		{"mysql", "a; SAVEPOINT e; b; SAVEPOINT t; c; ROLLBACK TO \u00e9; d", "a unknown, b unknown, c rolled back, d committed"},
		{"mysql", "a; SAVEPOINT e; b; SAVEPOINT \u00e9; c; ROLLBACK TO e; d", "a committed, b unknown, c rolled back, d committed"},
		{"mysql", "a; SAVEPOINT \u00e9; b; SAVEPOINT \u00e8; c; ROLLBACK TO \u00e8; d", "a committed, b committed, c rolled back, d committed"},
		{"mysql", "a; SAVEPOINT s; b; SAVEPOINT t; c; /*! ROLLBACK TO s */; d", "a unknown, b unknown, c rolled back, d committed"},
		{"mysql", "a; SAVEPOINT s; b; /*! DO 1 */; c; ROLLBACK TO s; d", "a committed, b rolled back, c rolled back, d committed"},
		{"mysql", "a; /*! SAVEPOINT s */; b; ROLLBACK TO s; c", "a unknown, b rolled back, c committed"},
		{"mysql", "SAVEPOINT s; a; /*! SAVEPOINT t */; b; RELEASE SAVEPOINT s; c", "a committed, b committed, c committed"},
		{"sqlite", "a; SAVEPOINT \u00e9; b; SAVEPOINT \u00c9; c; ROLLBACK TO \u00e9; d", "a committed, b rolled back, c rolled back, d committed"},
	} {
		if !slices.Contains(strings.Fields(c.in), w.db.Name()) {
			continue
		}
		n := new(notes)
		err := w.db.Transaction(func(tx *gorm.DB) error {
			for step := range strings.SplitSeq(c.steps, "; ") {
				var err error
				if len(step) == 1 {
					err = gormplugin.AfterEnd(tx, n.end(step))
				} else {
					err = tx.Exec(step).Error
				}
				if err != nil {
					return fmt.Errorf("%s: %w", step, err)
				}
			}
			return nil
		})
		if got := n.String(); got != c.want || err != nil {
			w.Errorf("%s: told %q, want %q; the error is %v", c.steps, got, c.want, err)
		}
	}
}
