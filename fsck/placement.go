package fsck

import (
	"context"
	"fmt"
	"strings"

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
