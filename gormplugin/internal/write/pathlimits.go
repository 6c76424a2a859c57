package write

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/treetable"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// maxRanges bounds how many subtrees one statement covers: each is a range of the path index, and a
// branch of the new value.
const maxRanges = 100

// checkSubtrees looks below the rows that move, which are locked. It reports whether there is
// anything, and refuses moves by which the path of a descendant would become longer than its
// column, or the tree too deep, before anything is written.
func (e *Engine) checkSubtrees(db *gorm.DB, t *table.Table, moves []plan.Move) (descend bool, err error) {
	if t.IsLeaf() || !slices.ContainsFunc(moves, plan.Move.Rewrites) {
		return false, nil
	}
	moves = lowestFirst(moves)
	tops := make([]*table.Node, len(moves))
	for i, m := range moves {
		tops[i] = m.Node
	}
	slices.Reverse(tops) // the highest are the likeliest to have rows below
	if descend, err := e.anyBelow(db, t, tops); err != nil || !descend {
		return false, err
	}
	for chunk := range slices.Chunk(moves, maxRanges) {
		err := e.checkRoom(db, t, chunk)
		if errors.Is(err, fault.ErrPathTooLong) && len(moves) > len(chunk) {
			err = e.recheckRoom(db, t, chunk, moves)
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// anyBelow reports whether any live row hangs below rows that are locked. It looks the children up
// by their parents, where nobody else can write meanwhile. It does not use the index over the
// paths, where the neighbours are.
func (e *Engine) anyBelow(db *gorm.DB, t *table.Table, above []*table.Node) (found bool, err error) {
	for chunk := range slices.Chunk(above, table.MaxPlaceholders/2) {
		d := t.Direct(db)
		if e.Dialect.MisjudgesLists {
			addEachBelow(t, d, chunk)
		} else {
			addBelow(t, d, chunk)
			e.addNewest(d)
		}
		var one int
		err := d.One(&one)
		if errors.Is(err, gorm.ErrRecordNotFound) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("gormplugin: looking below rows of %s: %w", t.TableName, err)
		}
		return true, nil
	}
	return false, nil
}

// addBelow makes d look for a row below one of the given ones.
func addBelow(t *table.Table, d *table.Direct, above []*table.Node) {
	var trees, ids []any
	for _, n := range above {
		if !slices.Contains(trees, n.Tree) {
			trees = append(trees, n.Tree)
		}
		ids = append(ids, n.ID)
	}
	d.Add("SELECT 1 FROM ? WHERE ? AND ? AND ? LIMIT 1", clause.Table{Name: t.TableName}, t.InTree(clause.CurrentTable, trees...), table.OneOf(t.Parent, ids), t.AlsoWhere(t.Alive))
}

// addEachBelow is addBelow for a planner that, without statistics, takes a list of parents for most
// of the table, and reads the whole tree once for every list. The inner LIMIT forces it to look up
// each row's children.
func addEachBelow(t *table.Table, d *table.Direct, above []*table.Node) {
	ids := make([]any, len(above))
	for i, n := range above {
		ids[i] = n.ID
	}
	name := clause.Table{Name: t.TableName}
	of := func(alias string, f *schema.Field) clause.Column { return clause.Column{Table: alias, Name: f.DBName} }
	d.Add("SELECT 1 FROM ? AS above CROSS JOIN LATERAL (SELECT 1 FROM ? AS child WHERE ? AND ? = ? AND ? LIMIT 1) AS below WHERE ? LIMIT 1",
		name, name, t.InSameTree("child", "above"), of("child", t.Parent), of("above", t.Key), table.Under("child", t.AlsoWhere(t.Alive)),
		t.KeyIn(of("above", t.Key), ids))
}

// addNewest keeps the database from answering a SELECT from an old snapshot.
func (e *Engine) addNewest(d *table.Direct) {
	if e.Asserts && e.Dialect.Newest != "" {
		d.Add(" " + e.Dialect.Newest)
	}
}

// change is how the beginning of a path column changes for a moved row and everything below it.
type change struct {
	column *schema.Field
	room   plan.Room
	form   treetable.Form
	// from and to are paths, as "/a/b".
	from, to string
}

// longer returns by how many characters the texts grow.
func (c change) longer() int { return utf8.RuneCountInString(c.to) - utf8.RuneCountInString(c.from) }

// changes returns what a move does to the path columns.
func changes(t *table.Table, m plan.Move) []change {
	all := []change{{t.Path, t.PathRoom, t.PathForm, m.Node.Path, m.Path}}
	if t.IDs != nil {
		all = append(all, change{t.IDs, t.IDsRoom, t.IDsForm, m.Node.IDs, m.IDs})
	}
	return all
}

// checkRoom looks below the rows that move for a row that would not fit. Where the rows have no
// mark of deletion, it reads only the index over the paths.
func (e *Engine) checkRoom(db *gorm.DB, t *table.Table, moves []plan.Move) error {
	length, path := e.Dialect.Length, table.Column(t.Path)
	separators, misfits := t.CountSeparators(), e.misfitsBelow(t, moves)
	if misfits == nil {
		return nil
	}
	var sizes []clause.Expression
	for _, c := range changes(t, moves[0]) {
		sizes = append(sizes, clause.Expr{SQL: length + "(?)", Vars: []any{table.Column(c.column)}})
	}
	var found string
	var count int
	var lengths []int
	err := t.OnPathIndex(db, func(from table.Hinted) (err error) {
		d := t.Direct(db).Add("SELECT ?, ?", path, separators)
		for _, size := range sizes {
			d.Add(", ?", size)
		}
		d.Add(" FROM ? WHERE ? LIMIT 1", from, t.Matching(misfits, false))
		e.addNewest(d)
		found, count, lengths, err = firstMisfit(d, len(sizes))
		return err
	})
	if err != nil {
		return fmt.Errorf("gormplugin: measuring the paths below %q: %w", moves[0].Node.Path, err)
	}
	if found == "" {
		return nil
	}
	return misfit(t, moves, t.PathForm.Read(found), count-t.PathForm.Separators(), lengths)
}

// recheckRoom does what checkRoom does for some of more moves than one statement has: a row that
// itself moves by another one, or lies below that, is not theirs to judge.
func (e *Engine) recheckRoom(db *gorm.DB, t *table.Table, some, all []plan.Move) error {
	type place struct {
		tree any
		path string
	}
	moves, mine := make(map[place]plan.Move, len(all)), make(map[any]bool, len(some))
	for _, m := range all {
		moves[place{m.Tree, m.Node.Path}] = m
	}
	for _, m := range some {
		mine[m.ID] = true
	}
	found := table.Selection{Where: e.misfitsBelow(t, some)}
	if e.Asserts {
		found.Lock = e.Dialect.Newest
	}
	var rows []*table.Node
	err := t.OnPathIndex(db, func(from table.Hinted) (err error) {
		found.From = from
		rows, err = t.Read(db, found)
		return err
	})
	for _, n := range rows {
		m, moved := moves[place{n.Tree, n.Path}]
		for path := n.Path; !moved && path != ""; {
			path = path[:max(strings.LastIndexByte(path, '/'), 0)]
			m, moved = moves[place{n.Tree, path}]
		}
		if moved && mine[m.ID] && m.ID != n.ID {
			lengths := []int{utf8.RuneCountInString(t.PathForm.Column(n.Path)), utf8.RuneCountInString(t.IDsForm.Column(n.IDs))}
			return misfit(t, []plan.Move{m}, n.Path, strings.Count(n.Path, "/"), lengths)
		}
	}
	return err
}

// misfitsBelow is the condition that a row below moving ones would not fit, nil if all would.
func (e *Engine) misfitsBelow(t *table.Table, moves []plan.Move) clause.Expression {
	separators := t.CountSeparators()
	below := func(m plan.Move) clause.Expression { return t.Below(m.Tree, m.Node.Path) }
	return ofLowest(t, moves, below, func(m plan.Move) []clause.Expression { return e.misfits(t, m, separators) })
}

// ofLowest is the condition that one of those holds which tight returns for the lowest move, the
// first of several, that a row of t is in the subtree of; nil if there are none. rows is the
// condition that finds those that go with a move.
func ofLowest(t *table.Table, moves []plan.Move, rows func(plan.Move) clause.Expression, tight func(plan.Move) []clause.Expression) clause.Expression {
	var found []clause.Expression
	first := clause.Expr{SQL: "CASE" + strings.Repeat(" WHEN ? THEN ?", len(moves)) + " ELSE 1 = 0 END"}
	for _, m := range moves {
		conditions := tight(m)
		switch {
		case len(conditions) == 0:
			conditions = append(conditions, clause.Expr{SQL: "1 = 0"})
		case len(moves) == 1:
			return clause.And(rows(m), table.AnyOf(conditions))
		default:
			found = append(found, rows(m))
		}
		first.Vars = append(first.Vars, t.Within(m.Tree, m.ID, m.Node.Path), table.AnyOf(conditions))
	}
	if len(found) == 0 {
		return nil
	}
	return clause.And(table.AnyOf(found), first)
}

// misfits are the conditions under which a row below a moving one would not fit.
func (e *Engine) misfits(t *table.Table, m plan.Move, separators clause.Expression) (conditions []clause.Expression) {
	length := e.Dialect.Length
	for _, c := range changes(t, m) {
		if c.longer() > 0 && c.room.Size > 0 {
			room := c.room.Size - c.longer()
			conditions = append(conditions, clause.Expr{
				SQL:  "(" + e.Dialect.Bytes + "(?) > ? AND " + length + "(?) > ?)",
				Vars: []any{table.Column(c.column), room, table.Column(c.column), room},
			})
		}
	}
	if deeper := m.Deeper(); deeper > 0 {
		conditions = append(conditions, clause.Expr{SQL: "? > ?", Vars: []any{separators, t.MaxDepth - deeper + t.PathForm.Separators()}})
	}
	return conditions
}

// misfit says why a row with a path, so many levels deep and with paths of these lengths, would not
// fit after the move.
func misfit(t *table.Table, moves []plan.Move, path string, levels int, lengths []int) error {
	m := moves[max(slices.IndexFunc(moves, func(m plan.Move) bool { return strings.HasPrefix(path+"/", m.Node.Path+"/") }), 0)]
	for i, c := range changes(t, m) {
		if err := c.room.Fits(lengths[i]+max(c.longer(), 0), c.form.Print(c.to)); err != nil {
			return err
		}
	}
	return &fault.TooDeepError{Table: t.TableName, Path: m.Path, Depth: levels + m.Deeper(), Limit: t.MaxDepth}
}

// firstMisfit returns the path column of a row that would not fit, the separators there, and how
// long the row's paths are; zeros if there is none.
func firstMisfit(d *table.Direct, paths int) (path string, separators int, lengths []int, err error) {
	lengths = make([]int, paths)
	into := []any{&path, &separators}
	for i := range lengths {
		into = append(into, &lengths[i])
	}
	err = d.Query(func(rows *sql.Rows) error { return rows.Scan(into...) })
	return path, separators, lengths, err
}
