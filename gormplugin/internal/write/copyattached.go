package write

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// CheckCopy refuses options that cannot be followed.
func (e *Engine) CheckCopy(req *CopyRequest) error {
	if req.Table.ByIDs {
		return req.Table.Unsupported("rows that have a path of ids only cannot be copied by Copy, which finds the copies' parents by the path of names; use Create")
	}
	if !req.Table.IsLeaf() && (req.Table.PathForm.OfParent || req.Table.IDsForm.OfParent) {
		return req.Table.Unsupported("rows that have the path of their parent cannot be copied by Copy, which finds the copies' names and parents in their own paths; use Create")
	}
	if err := checkValues(req.Table, req.Values); err != nil {
		return err
	}
	for _, l := range req.Leaves {
		leaf, err := e.TableFor(l.Model)
		if err != nil {
			return err
		}
		if leaf.Above != req.Table || !leaf.IsLeaf() {
			return leaf.Unsupported("it is not a leaf of %s: use CopyAttached", req.Table.TableName)
		}
		if err := checkValues(leaf, l.Values); err != nil {
			return err
		}
	}
	return nil
}

// checkValues refuses values for columns that follow from the copy's place, and a copy whose key
// neither the database nor the caller gives.
func checkValues(t *table.Table, values map[string]any) error {
	keyed := t.Key.AutoIncrement || t.Key.HasDefaultValue
	for name := range values {
		f := t.Schema.LookUpField(name)
		switch {
		case f == nil || f.DBName == "":
			return fmt.Errorf("gormplugin: %s has no column %q", t.Schema.Name, name)
		case slices.Contains(t.PlaceColumns(), f), slices.Contains(t.Deletion, f):
			return t.Unsupported("%q of a copy follows from its place", f.DBName)
		case f == t.Key:
			keyed = true
		}
	}
	if !keyed {
		return t.Unsupported("the database does not give keys: CopyValues has to, such as {%q: gorm.Expr(%q)}", t.Key.DBName, "UUID()")
	}
	return nil
}

// copyAttached copies the leaves of the copied rows, and calls what was given to CopyAttached.
func (e *Engine) copyAttached(db *gorm.DB, st *Statement, req *CopyRequest, x *copying) error {
	if len(req.Leaves) == 0 && len(req.Attach) == 0 {
		return nil
	}
	pairs := e.pairs(db, req, x)
	for _, l := range req.Leaves {
		leaf, err := e.TableFor(l.Model)
		if err != nil {
			return err
		}
		placed := map[*schema.Field]any{leaf.Parent: clause.Column{Table: "m", Name: "new_id"}}
		from := clause.Expr{SQL: "? AS c JOIN (?) AS m ON m.old_id = ?", Vars: []any{clause.Table{Name: leaf.TableName}, pairs, table.Column(leaf.Parent)}}
		lacking := false
		for _, p := range leaf.LeafPaths {
			if placed[p.Column] = leaf.Follows(p); p.LacksID() {
				placed[p.Column], lacking = typed("", p.Column), true
			}
		}
		if len(leaf.LeafPaths) > 0 {
			from.SQL += " JOIN ? AS p ON ? = m.new_id"
			from.Vars = append(from.Vars, clause.Table{Name: req.Table.TableName}, clause.Column{Table: "p", Name: req.Table.Key.DBName})
		}
		_, err = insertFrom(leaf, db, from, nil, placed, l.Values, st.Fence)
		if err == nil && lacking {
			top, _ := req.Table.Key.ValueOf(db.Statement.Context, req.Made)
			err = e.followAbove(db, leaf, req.Table.Within(x.After.Tree, top, x.After.Path), false)
		}
		if err != nil {
			return err
		}
	}
	for _, attach := range req.Attach {
		if err := attach(Allow(db.Session(&gorm.Session{NewDB: true})), db.Session(&gorm.Session{NewDB: true}).Raw("?", pairs)); err != nil {
			return err
		}
	}
	return nil
}

// pairs is a SELECT of which row is the copy of which. A copy's path is that of its source, with
// another beginning.
func (e *Engine) pairs(db *gorm.DB, req *CopyRequest, x *copying) clause.Expression {
	t := req.Table
	of := func(alias string, f *schema.Field) clause.Column { return clause.Column{Table: alias, Name: f.DBName} }
	var same, source clause.Expression
	if t.IsLeaf() {
		value, _ := t.Key.ValueOf(db.Statement.Context, req.Made)
		same = clause.Eq{Column: of("n", t.Key), Value: value}
		source = clause.Eq{Column: table.Column(t.Key), Value: x.Source.ID}
	} else {
		path := t.Rebased(t.PathForm, of("s", t.Path), x.Source.Path, x.After.Path)
		same = clause.And(t.InTree("n", x.After.Tree), t.Exactly(of("n", t.Path), path), table.Under("n", t.Alive))
		source = t.Within(x.Source.Tree, x.Source.ID, x.Source.Path)
	}
	name := clause.Table{Name: t.TableName}
	return clause.Expr{
		SQL:  "SELECT ? AS old_id, ? AS new_id FROM ? AS s JOIN ? AS n ON ? WHERE ?",
		Vars: []any{of("s", t.Key), of("n", t.Key), name, name, same, table.Under("s", t.Matching(source, false))},
	}
}
