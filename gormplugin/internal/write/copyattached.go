package write

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// CheckCopy refuses options that cannot be followed.
func (e *Engine) CheckCopy(req *CopyRequest) (err error) {
	if req.Table.Name == nil {
		if req.Name != "" {
			return req.Table.Unsupported("the model has no column for the name that CopyAs gives")
		}
		req.Name = table.MadeUpName()
	}
	if req.given, err = valuesByField(req.Table, req.Values); err != nil {
		return err
	}
	for i := range req.Leaves {
		l := &req.Leaves[i]
		if l.table, err = e.TableFor(l.Model); err != nil {
			return err
		}
		if l.table.Above != req.Table || !l.table.IsLeaf {
			return l.table.Unsupported("it is not a leaf of %s: use CopyAttached", req.Table.TableName)
		}
		if l.given, err = valuesByField(l.table, l.Values); err != nil {
			return err
		}
	}
	return nil
}

// valuesByField returns the values by their columns. It refuses those for columns that follow from
// the copy's place, and a copy whose key neither the database nor the caller gives.
func valuesByField(t *table.Table, values map[string]any) (map[*schema.Field]any, error) {
	given := make(map[*schema.Field]any, len(values))
	for name, value := range values {
		f := t.Schema.LookUpField(name)
		switch {
		case f == nil || f.DBName == "":
			return nil, fmt.Errorf("gormplugin: %s has no column %q", t.Schema.Name, name)
		case slices.Contains(t.PlaceColumns(), f), slices.Contains(t.Deletion, f):
			return nil, t.Unsupported("%q of a copy follows from its place", f.DBName)
		}
		given[f] = value
	}
	if _, isGiven := given[t.Key]; !isGiven && !t.Key.AutoIncrement && !t.Key.HasDefaultValue {
		return nil, t.Unsupported("the database does not generate keys: CopyValues must, such as {%q: gorm.Expr(%q)}", t.Key.DBName, "UUID()")
	}
	return given, nil
}

// readLeaves reads the leaves that are to be copied along, and refuses those whose paths would not
// fit.
func (x *copying) readLeaves(all []*plan.Copied) error {
	req := x.req
	if len(req.Leaves) == 0 {
		return nil
	}
	above := make(map[any]*table.Node)
	for _, c := range all {
		above[c.Of.ID] = c.Node
	}
	rows := table.Selection{Where: x.Table.Within(x.Source.Tree, x.Source.ID, x.Source.Path)}
	for i := range req.Leaves {
		l := &req.Leaves[i]
		var found []*table.Node
		err := l.table.OnLeaves(x.DB, rows, func(p, c, where clause.Expression) (err error) {
			from := clause.Expr{SQL: "? JOIN ? ON ?", Vars: []any{p, c, joinsParent(l.table)}}
			found, err = x.whole(l.table, from, where)
			return err
		})
		if err != nil {
			return err
		}
		l.copies = nil
		for _, n := range found {
			if above[n.Parent] == nil {
				continue // without an assertion, it may have come after the rows were read
			}
			c := &plan.Copied{Of: n, Node: &table.Node{Name: n.Name}, Above: above[n.Parent]}
			if err := l.table.Settle(c, nil); err != nil {
				return err
			}
			l.copies = append(l.copies, c)
		}
	}
	return nil
}

// copyLeaves inserts copies of the leaves.
func (x *copying) copyLeaves() error {
	for _, l := range x.req.Leaves {
		for part := range slices.Chunk(l.copies, copiedAtOnce) {
			if _, err := x.insertCopies(l.table, part, l.given); err != nil {
				return err
			}
		}
		if len(l.copies) > 0 && slices.ContainsFunc(l.table.LeafPaths, table.LeafPath.LacksID) {
			if err := x.followSubtrees(l.table, []*table.Node{x.After}, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyAttached calls what was given to CopyAttached, with some of the copies each time.
func (x *copying) copyAttached(copies []*plan.Copied) error {
	t, db := x.Table, x.DB
	for part := range slices.Chunk(copies, copiedAtOnce) {
		ids := valuesOf(part, keyOf)
		key := clause.Column{Table: "s", Name: t.Key.DBName}
		pairs := table.Under("s", clause.Expr{SQL: "SELECT ? AS old_id, ? AS new_id FROM ? AS s WHERE ?", Vars: []any{
			key, eachOf(t, t.Key, ids, valuesOf(part, newKeyOf)), clause.Table{Name: t.TableName}, t.KeyIn(key, ids),
		}})
		for _, attach := range x.req.Attach {
			if err := attach(Allow(db.Session(&gorm.Session{NewDB: true})), db.Session(&gorm.Session{NewDB: true}).Raw("?", pairs)); err != nil {
				return err
			}
		}
	}
	return nil
}
