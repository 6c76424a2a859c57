package gormplugin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// checkSubtrees refuses moves by which any descendant's path would become longer than the
// column, or the tree too deep, before anything is written.
func (p *Plugin) checkSubtrees(db *gorm.DB, t *table, moves []move) error {
	if t.isLeaf() {
		return nil
	}
	for _, m := range moves {
		if m.restored {
			continue
		}
		if err := p.checkSubtree(db, t, m); err != nil {
			return err
		}
	}
	return nil
}

// checkSubtree looks for a row below one that moves which would not fit. It reads the index over the paths and nothing else, where
// the rows have no mark of deletion.
func (p *Plugin) checkSubtree(db *gorm.DB, t *table, m move) error {
	length, path := p.dialect.length, column(t.path)
	changes, deeper := t.changes(m), strings.Count(m.path, "/")-strings.Count(m.node.path, "/")
	depth := clause.Expr{SQL: length + "(?) - " + length + "(REPLACE(?, '/', ''))", Vars: []any{path, path}}

	var misfits []clause.Expression
	list, columns := "?", []any{depth}
	for _, c := range changes {
		list, columns = list+", "+length+"(?)", append(columns, column(c.column))
		if c.longer() > 0 && c.column.Size > 0 && c.column.DataType == schema.String {
			room := c.column.Size - c.longer()
			misfits = append(misfits, clause.Expr{
				SQL:  "(" + p.dialect.bytes + "(?) > ? AND " + length + "(?) > ?)",
				Vars: []any{column(c.column), room, column(c.column), room},
			})
		}
	}
	if deeper > 0 {
		misfits = append(misfits, clause.Expr{SQL: "? > ?", Vars: []any{depth, pathlock.MaxDepth - deeper}})
	}
	if len(misfits) == 0 {
		return nil
	}
	d := t.direct(db).add("SELECT "+list+" FROM ?", append(columns, clause.Table{Name: t.name})...).
		add(" WHERE ? AND (?) AND ?", p.below(t, m.tree, m.node.path), clause.Or(misfits...), t.alive).add(" LIMIT 1")
	if p.assert && p.dialect.newest != "" {
		d.add(" " + string(p.dialect.newest))
	}
	levels, lengths, err := firstMisfit(d, len(changes))
	if err != nil {
		return fmt.Errorf("gormplugin: measuring the paths below %q: %w", m.node.path, err)
	}
	for i, c := range changes {
		if err := fits(c.column, lengths[i]+max(c.longer(), 0), c.to); err != nil {
			return err
		}
	}
	if levels+deeper > pathlock.MaxDepth {
		return fmt.Errorf("%w: the subtree of %q would be %d names deep, at most %d are allowed", ErrPathTooLong, m.path, levels+deeper, pathlock.MaxDepth)
	}
	return nil
}

// firstMisfit returns how deep a row lies that would not fit and how long its paths are; zeros if there is none.
func firstMisfit(d *direct, paths int) (levels int, lengths []int, err error) {
	lengths = make([]int, paths)
	into := []any{&levels}
	for i := range lengths {
		into = append(into, &lengths[i])
	}
	rows, err := d.rows()
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return 0, nil, err
		}
	}
	return levels, lengths, rows.Err()
}
