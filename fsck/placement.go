package fsck

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
)

// examine reports what is wrong with each row of a page: its name, its parent, its paths.
func (c *climber) examine(ctx context.Context, rows []*row, report func(Problem) error) error {
	places, err := c.places(ctx, rows)
	if err != nil {
		return err
	}
	for i, r := range rows {
		for _, check := range []func(*row, place) *Problem{badKey, noTree, badName, orphan, onCycle, tooFarDown, c.wrongPath, c.wrongIDPath} {
			if p := check(r, places[i]); p != nil {
				if err := report(*p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// problem begins a report on a row.
func (r *row) problem(kind Kind, format string, args ...any) *Problem {
	p := &Problem{Kind: kind, Tree: r.tree, ID: r.key, Name: r.name, Detail: fmt.Sprintf(format, args...)}
	if !utf8.ValidString(r.name) {
		p.NameBytes = []byte(r.name)
	}
	if r.path.Valid {
		p.Is = &r.path.String
	}
	return p
}

func badKey(r *row, _ place) *Problem {
	switch {
	case r.key.isFraction():
		return r.problem(BadKey, "its key is no whole number: give it another one by hand, and the rows below it with it")
	case r.tree.isFraction():
		return r.problem(BadKey, "its tree's id is no whole number: give it another one by hand")
	default:
		return nil
	}
}

func noTree(r *row, at place) *Problem {
	switch {
	case r.hasTree():
		return nil
	case at.tree.String() == "":
		return r.problem(NoTree, "it is in no tree, and so are the rows above it: no lock can be taken")
	}
	p := r.problem(NoTree, "it is in no tree, and below the tree %v", at.tree)
	p.Others = []Key{at.tree}
	return p
}

func badName(r *row, _ place) *Problem {
	if r.isRoot() {
		return nil
	}
	if r.nameless {
		return r.problem(BadName, "its name is NULL")
	}
	if err := r.checkName(); err != nil {
		reason := strings.TrimPrefix(err.Error(), fmt.Sprintf("%v: below %q: ", pathlock.ErrInvalidPath, pathlock.Root()))
		return r.problem(BadName, "%s", reason)
	}
	return nil
}

func orphan(r *row, _ place) *Problem {
	var p *Problem
	switch r.fault {
	case faultMissing:
		p = r.problem(Orphan, "its parent %v is missing", r.parent)
	case faultDeleted:
		p = r.problem(Orphan, "its parent %v is deleted", r.parent)
	case faultForeign:
		p = r.problem(Orphan, "its parent %v is in another tree", r.parent)
	default:
		return nil
	}
	p.Others = []Key{r.parent}
	return p
}

func onCycle(r *row, at place) *Problem {
	if at.state != cyclic || at.cycle.first != r.key {
		return nil
	}
	p := r.problem(Cycle, "it is its own ancestor, in a cycle of %d rows", at.cycle.length)
	p.Others = at.cycle.members[1:]
	return p
}

func tooFarDown(r *row, at place) *Problem {
	if at.state != tooDeep {
		return nil
	}
	return r.problem(TooDeep, "more names lead to it than a path can have")
}

func (c *climber) wrongPath(r *row, at place) *Problem {
	if c.table.Path == "" || at.state != placed || r.path.Valid && r.path.String == at.path {
		return nil
	}
	p := r.problem(WrongPath, "its path is wrong")
	if !c.limits[c.table.Path].holds(at.path) {
		p = r.problem(PathTooLong, "its path does not fit into the column %s", c.table.Path)
	}
	p.Want = &at.path
	return p
}

func (c *climber) wrongIDPath(r *row, at place) *Problem {
	if c.table.IDPath == "" || at.state != placed || r.idPath.Valid && r.idPath.String == at.idPath {
		return nil
	}
	p := r.problem(WrongIDPath, "its id path is wrong")
	if !c.limits[c.table.IDPath].holds(at.idPath) {
		p = r.problem(PathTooLong, "its id path does not fit into the column %s", c.table.IDPath)
	}
	p.Is, p.Want = nil, &at.idPath
	if r.idPath.Valid {
		p.Is = &r.idPath.String
	}
	return p
}

// mixed reports rows whose children carry another prefix.
func (s *session) mixed(ctx context.Context, tree Key, report func(Problem) error) error {
	if s.table.Path == "" {
		return nil
	}
	row, parent := s.of("c"), s.of("p")
	d, table := s.dialect, s.dialect.quote(s.table.Table)
	conditions := []string{
		row.live, parent.live, parent.tree + " = " + row.tree,
		d.exact(row.path) + " <> " + d.exact(d.concat(parent.path, "'/'", row.name)),
		d.exact(d.ending(row.path, row.name)) + " = " + d.exact(d.concat("'/'", row.name)),
	}
	var args []any
	if !tree.IsZero() {
		conditions = append(conditions, row.tree+" = ?")
		args = append(args, s.treeArg(tree))
	}
	query := fmt.Sprintf(`SELECT p.*, m.children FROM (
			SELECT %[1]s AS k, COUNT(*) AS children FROM %[2]s AS c JOIN %[2]s AS p ON %[1]s = %[3]s WHERE %[4]s GROUP BY %[1]s
		) AS m JOIN (SELECT %[1]s AS k, %[5]s AS tree, %[6]s AS name, %[7]s AS path FROM %[2]s AS p) AS p ON p.k = m.k ORDER BY p.k`,
		parent.key, table, row.parent, strings.Join(conditions, " AND "), parent.tree, parent.name, parent.path)
	return s.each(ctx, query, args, func(scan func(...any) error) error {
		r, children := newScan(s.Checker), int64(0)
		if err := scan(r.dest(&children)...); err != nil {
			return fmt.Errorf("fsck: read %s: %w", s.table.Table, err)
		}
		row, err := r.row()
		if err != nil {
			return err
		}
		return report(*row.problem(MixedPrefix, "%d of its children carry another prefix than its path", children))
	})
}
