// Package adopt finds the tables of a database that hold trees, and says what a program with
// package gormplugin must write for them: tags, options, statements and flags.
//
// It judges by data: a column is a path if its value follows from the parents, and the names or
// keys, in most rows. Names of columns decide only between columns that fit equally, and in tables
// without rows. Package treeschema judges the schema, and package fsck the rows. It only reads.
package adopt

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Report is what adopt says about a database.
type Report struct {
	Trees       []Tree        `json:"trees"`
	Unsupported []Unsupported `json:"unsupported"`
}

// Tree is a shape that the rows of a table have. A table with two shapes that fit equally has two.
type Tree struct {
	Table string `json:"table"`
	// Fsck are the flags of pathlock fsck, without those at their defaults.
	Fsck string `json:"fsck"`
	// Rows counts the live rows that were looked at, and Agree those that have the shape. Agree is
	// 0 if no row has a parent.
	Rows     int        `json:"rows"`
	Agree    int        `json:"agree"`
	Disagree []Disagree `json:"disagree"`
	// Tags are new fields of the model, and additions to fields. Options are those of
	// gormplugin.New.
	Tags       []string    `json:"tags"`
	Leaves     []Leaf      `json:"leaves,omitempty"`
	Options    []string    `json:"options"`
	Statements []Statement `json:"statements"`
	// Findings are what fsck finds, at most [mostFindings], behind a line with their number.
	Findings []string `json:"findings"`
	Refused  []string `json:"refused"`
	// Notes say how the shape was found, if not by all rows.
	Notes []string `json:"notes,omitempty"`

	shape shape
	twins int
}

// Leaf is a table whose rows have the paths of the tree's, with the fields of its model.
type Leaf struct {
	Table string   `json:"table"`
	Tags  []string `json:"tags"`
}

// Disagree is a row that does not have the shape.
type Disagree struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

// Statement is one that the schema needs.
type Statement struct {
	SQL   string `json:"sql"`
	Why   string `json:"why"`
	Locks string `json:"locks"`
	Undo  string `json:"undo"`
	// depends is set if only somebody who knows the program can say whether it is right.
	depends bool
}

// Unsupported is a table with a tree of another kind.
type Unsupported struct {
	Table string `json:"table"`
	Why   string `json:"why"`
}

// MostRows bounds how many rows of a table are read. Of a larger one, those with the smallest keys
// are read.
const MostRows = 1_000_000

// mostFindings is how many findings of fsck are listed.
const mostFindings = 20

// Options are the options of [Run], with flags. Deleted is nil if the rows say the mark.
type Options struct {
	Table       string   `help:"Table to look at: suites or schema.suites (default: all tables)." placeholder:"NAME"`
	Tree        []string `name:"tree-column" help:"Column of the trees' ids, or two that together identify the tree, such as uid,sid, with --table (default: what the rows say)." placeholder:"COLUMN"`
	Name        string   `help:"Column of the names of siblings, with --table (default: what the rows say)." placeholder:"COLUMN"`
	Deleted     *string  `help:"Column that marks a row as deleted, as pathlock fsck takes it, with --table. Give --deleted= if rows are deleted for good (default: what the rows say)." placeholder:"COLUMN"`
	DeletedWhen string   `help:"Value by which that column marks a row as deleted: archived, 2. All others are then live." placeholder:"VALUE"`
	Alias       string   `help:"Column by which URLs name rows, if not by the key, with --table." placeholder:"COLUMN"`
	// Progress is called with what is being read, and with 0 rows at the end. It may be nil.
	Progress func(table string, rows int) `kong:"-"`
}

// Run looks at a database in read-only transactions.
func Run(ctx context.Context, db *sql.DB, of fsck.Dialect, opts Options) (Report, error) {
	d, err := dialect.Of(of)
	if err != nil {
		return Report{}, err
	}
	report := Report{Trees: []Tree{}, Unsupported: []Unsupported{}}
	r := reader{db: db, dialect: d, progress: opts.Progress}
	var shapes []shape
	err = d.Read(ctx, db, func(tx *sql.Tx) (err error) {
		shapes, err = r.shapes(ctx, tx, opts, &report)
		return err
	})
	if err != nil {
		return report, err
	}
	for _, s := range shapes {
		tree, err := r.describe(ctx, s)
		if err != nil {
			return report, fmt.Errorf("%s: %w", s.Table.Table, err)
		}
		report.Trees = append(report.Trees, tree)
	}
	if opts.Table != "" && len(report.Trees)+len(report.Unsupported) == 0 {
		return report, fmt.Errorf("%q has no recognisable tree: no column with a name such as parent_id, or beside paths, has mostly keys of other rows, and no column has paths that follow from other rows", opts.Table)
	}
	return report, nil
}

// shapes returns those of all tables, or of one, in one state of the database.
func (r *reader) shapes(ctx context.Context, tx *sql.Tx, opts Options, report *Report) (shapes []shape, err error) {
	tables, unread, err := r.samples(ctx, tx, opts.Table)
	if err != nil {
		return nil, err
	}
	if opts.Table == "" {
		report.Unsupported = append(report.Unsupported, unread...)
	}
	var carried [][2]string
	for _, t := range tables {
		if opts.Table != "" && t.name != opts.Table {
			continue
		}
		trees := append(slices.Clone(opts.Tree), "", "")
		t.stated, t.tree, t.second = opts, trees[0], trees[1]
		for _, column := range []string{t.tree, t.second, opts.Name, opts.Alias, t.statedMark()} {
			if _, ok := t.cells[column]; column != "" && !ok {
				return nil, fmt.Errorf("%s has no column %q that can be read", t.name, column)
			}
		}
		if t.second != "" && (!t.isID(t.tree) || !t.isID(t.second)) {
			return nil, fmt.Errorf("%s and %s cannot say the tree together: only texts, UUIDs and whole numbers can", t.tree, t.second)
		}
		if err := t.checkMark(); err != nil {
			return nil, err
		}
		found, unsupported := t.shapes()
		report.Unsupported = append(report.Unsupported, unsupported...)
		for i := range found {
			carried = append(carried, found[i].findLeaves(tables)...)
		}
		shapes = append(shapes, found...)
	}
	shapes = slices.DeleteFunc(shapes, func(s shape) bool {
		return s.isAdded(s.Parent) && slices.Contains(carried, [2]string{s.Table.Table, cmp.Or(s.Path, s.IDPath)})
	})
	for i := range shapes {
		shapes[i].Leaves = slices.DeleteFunc(shapes[i].Leaves, func(l treetable.Table) bool {
			return slices.ContainsFunc(shapes, func(s shape) bool { return s.Table.Table == l.Table && !s.isAdded(s.Parent) })
		})
		if shapes[i].of.more || shapes[i].mayBeCut() {
			if err := r.readFully(ctx, tx, &shapes[i]); err != nil {
				return nil, err
			}
		}
	}
	return shapes, nil
}

// describe says what to write for a shape.
func (r *reader) describe(ctx context.Context, s shape) (Tree, error) {
	v, parts := s.judge(), append([]shape{s}, s.leaves()...)
	for i := range parts {
		r.shorten(&parts[i])
	}
	s = parts[0]
	tree := Tree{Table: s.Table.Table, Fsck: flags(s.Table, false), Rows: v.rows, Agree: v.agree, Disagree: v.disagree, Tags: s.tags(), Options: s.options(), shape: s, twins: v.twins, Notes: s.notes()}
	for _, l := range parts[1:] {
		tree.Leaves = append(tree.Leaves, Leaf{l.Table.Table, l.tags()})
	}
	found, err := r.statements(ctx, parts, &tree)
	if err != nil {
		return tree, err
	}
	tree.Refused = s.refused(v, found)
	if s.guessed {
		tree.Agree, tree.Disagree = 0, []Disagree{}
	} else if tree.misfit() {
		see := slices.IndexFunc(tree.rollout(), func(step string) bool { return strings.HasPrefix(step, "See") })
		tree.Notes = slices.Insert(tree.Notes, 0, fmt.Sprintf("either the tree is broken, or this is not its shape: look at the rows that do not agree. If your code means another "+
			"shape, give its columns to this command. Otherwise repair the rows before you adopt: add rows that are missing above others; step %d of the roll-out shows what fsck would do", see+1))
	}
	tree.Findings, err = r.check(ctx, s)
	return tree, err
}

// check returns what fsck finds in a table, or why it was not asked.
func (r *reader) check(ctx context.Context, s shape) (findings []string, err error) {
	switch {
	case len(s.added)+len(s.filled) > 0:
		return []string{"not checked: the rows have no " + strings.Join(append(s.addedNames(), s.filled...), ", ") + ": run fsck after the statements"}, nil
	case s.of.more:
		return []string{fmt.Sprintf("not checked: the table has more than %d rows: run fsck", MostRows)}, nil
	}
	var summary fsck.Summary
	checker, err := fsck.New(ctx, r.db, r.dialect.Name, s.Table)
	if err == nil {
		summary, err = checker.Check(ctx, fsck.Options{}, func(p fsck.Problem) error {
			if len(findings) < mostFindings {
				findings = append(findings, p.String())
			}
			return nil
		})
	}
	switch {
	case errors.Is(err, fsck.ErrTable):
		return []string{err.Error()}, nil
	case err != nil:
		return nil, err
	}
	return slices.Insert(findings, 0, shown.Count(summary.Rows, "row", "rows")+", "+shown.Count(summary.Total(), "problem", "problems")), nil
}

// best returns the shapes that fit most rows; among these, those whose names fit best.
func best(shapes []shape) []shape {
	better := func(a, b shape) int {
		return cmp.Or(cmp.Compare(b.agree, a.agree), cmp.Compare(b.hints, a.hints))
	}
	slices.SortStableFunc(shapes, better)
	return slices.DeleteFunc(shapes, func(s shape) bool { return better(shapes[0], s) != 0 })
}
