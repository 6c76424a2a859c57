package fsck

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// examine reports what is wrong with the name, the parent and the paths of each row of a page.
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
		return r.problem(BadKey, "its key is not a whole number: change the key by hand, and the parent of the rows below")
	case r.tree.isFraction():
		return r.problem(BadKey, "its tree's id is not a whole number: change it by hand")
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
	if r.nullName {
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
	return c.wrong(r, at, WrongPath, "path", c.table.Path, r.path, at.path)
}

func (c *climber) wrongIDPath(r *row, at place) *Problem {
	return c.wrong(r, at, WrongIDPath, "id path", c.table.IDPath, r.idPath, at.idPath)
}

// wrong compares one path of a row with what it should be.
func (c *climber) wrong(r *row, at place, kind Kind, what, column string, is sql.NullString, want string) *Problem {
	if column == "" || at.state != placed || is.Valid && is.String == want {
		return nil
	}
	p := r.problem(kind, "its %s is wrong", what)
	if !c.limits[column].holds(want) {
		p = r.problem(PathTooLong, "its %s does not fit into the column %s", what, column)
	}
	p.Is, p.Want = nil, &want
	if is.Valid {
		p.Is = &is.String
	}
	return p
}
