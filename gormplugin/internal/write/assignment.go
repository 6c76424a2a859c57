package write

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// assignment is what an UPDATE assigns to the places of the rows that it hits.
type assignment struct {
	plan.Change
	set clause.Set
	// version is what is assigned to the version, if anything.
	version any
	// marks are the marks of deletion that are assigned the values of deleted rows.
	marks clause.Set
	// place is set if anything, even a zero value, is assigned to a column that says where a row
	// is.
	place bool
}

// touches reports whether the assignment can change the tree.
func (a *assignment) touches() bool { return a.place || a.Restores || a.Deletes }

// assignmentIn returns what the update in stmt assigns, as GORM itself works it out. It adds the
// conditions on the primary key to stmt, and refuses what [checkForeign] does.
func (s *statement) assignmentIn(stmt *gorm.Statement) (*assignment, error) {
	t, a := s.Table, &assignment{}
	if c, ok := stmt.Clauses["SET"]; ok {
		a.set, _ = c.Expression.(clause.Set)
	} else {
		a.set = callbacks.ConvertToAssignments(stmt)
	}
	if stmt.DB.Error != nil {
		return nil, stmt.DB.Error
	}
	a.set = slices.Clone(a.set)
	seen := make(map[*schema.Field]bool)
	var alone *schema.Field
	for i, assigned := range a.set {
		f := t.ColumnNamed(assigned.Column.Name)
		if f != nil && f == t.Version {
			if version, err := table.Plain(assigned.Value); err == nil {
				a.version = version
			}
		}
		if assigned.Column.Raw {
			return nil, t.Unsupported("an update cannot set %q: name one column", assigned.Column.Name)
		}
		if f == nil || !t.Owns(f) {
			continue
		}
		if seen[f] {
			return nil, t.Unsupported("an update sets %q twice", f.DBName)
		}
		if seen[f] = true; t.FollowsAlone(f) {
			alone = f
		}
		// However it was named: the plugin may have another value for it.
		a.set[i].Column = clause.Column{Name: f.DBName}
		if slices.Contains(t.Deletion, f) {
			live, value, err := t.MarksLive(stmt.Context, f, assigned.Value)
			if err != nil {
				return nil, err
			}
			a.set[i].Value = value
			if !live {
				a.marks = append(a.marks, a.set[i])
			}
			// A statement that leaves deleted rows out restores none.
			a.Restores = live && t.MayHitDeleted(stmt)
			continue
		}
		a.place = a.place || f != t.Fence
		if f == t.Parent && s.op != nil && s.op.Arranged != nil {
			a.Parents, a.Trees = s.op.Arranged.Parents, s.op.Arranged.trees
			continue
		}
		planned, err := takeAssigned(stmt.Context, t, a, f, assigned.Value)
		if err != nil {
			return nil, err
		}
		if planned != nil && (f == t.Parent || f == t.Name || f == t.Tree) {
			a.set[i].Value = table.Written(assigned.Value, planned)
		}
		if f == t.Parent && *a.Parent == nil {
			a.set[i].Value = t.ParentValue(nil)
		}
	}
	if a.Deletes = len(a.marks) > 0; a.Deletes {
		a.Restores = false
	}
	if s.op != nil && a.Name == nil && a.Parent == nil && a.Parents == nil {
		return nil, t.Unsupported("a Select or an Omit leaves out the column that is to change")
	}
	if a.Parents != nil && a.Name != nil {
		return nil, t.Unsupported("a hook cannot set the name of rows that are arranged: all of them would get the same")
	}
	// Beside the rest of a row, the value is what was read of the row.
	if alone != nil && a.Name == nil && a.Parent == nil && a.Path+a.IDs == "" && !a.StatesPath {
		return nil, t.Unsupported("%q follows from the place of a row, and cannot be set: use gormplugin.Move", alone.DBName)
	}
	return a, checkForeign(t, stmt, a)
}

// takeAssigned notes what is assigned to a column that says where a row is, and returns it in plain
// form, nil for a zero value.
func takeAssigned(ctx context.Context, t *table.Table, a *assignment, f *schema.Field, assigned any) (any, error) {
	if f == t.Fence {
		return nil, nil
	}
	value, err := t.Convert(ctx, f, assigned)
	if err != nil {
		return nil, err
	}
	switch {
	case f == t.Parent:
		value = t.ParentOrNil(value)
	case f != t.Name && value != nil && reflect.ValueOf(value).IsZero():
		value = nil
	}
	switch f {
	case t.Name:
		name, ok := table.TextOf(value)
		if !ok {
			return nil, t.Unfit("the name must be a text, not %v", value)
		}
		value = name
		a.Name = &name
	case t.Parent:
		a.Parent = &value
	case t.Key:
		if value == nil {
			return nil, t.Unsupported("the primary key cannot be set to %v", assigned)
		}
		a.Key = value
	case t.Tree:
		a.Tree = value
	case t.Path:
		text, _ := table.TextOf(value)
		a.Path, a.StatesPath = table.ReadStated(t.PathForm, text), !t.ByIDs
		a.AtTop = a.AtTop || text == "" && (t.ByIDs || !t.PathForm.OfParent)
	case t.IDs:
		text, _ := table.TextOf(value)
		a.IDs, a.AtTop = table.ReadStated(t.IDsForm, text), a.AtTop || text == ""
	}
	return value, nil
}

// rehearse works out the assignments of an update early, before the hooks, and returns them with a
// copy of the statement. GORM writes what it assigns into a model that it can address: the copy's
// cannot be, so that nothing of the caller's changes.
func (s *statement) rehearse() (*assignment, *gorm.Statement, error) {
	copied := s.DB.Session(&gorm.Session{Initialized: true}).Statement
	model := reflect.ValueOf(copied.Model)
	for model.Kind() == reflect.Pointer || model.Kind() == reflect.Interface {
		model = model.Elem()
	}
	if copied.ReflectValue = model; model.CanAddr() {
		copied.ReflectValue = reflect.ValueOf(model.Interface())
	}
	a, err := s.assignmentIn(copied)
	return a, copied, err
}

// replace makes the statement assign values to the rows with the given ids. Other rows that it
// hits, if others is set, keep what they have.
func (a *assignment) replace(t *table.Table, f *schema.Field, ids, values []any, others bool) {
	a.drop(f)
	if len(ids) == 0 {
		return
	}
	value := values[0]
	if len(ids) > 1 || others {
		value = eachOf(t, f, ids, values)
	}
	a.set = append(a.set, clause.Assignment{Column: clause.Column{Name: f.DBName}, Value: value})
}

// eachOf is the value of a column for each of the rows with the ids. Other rows keep what they
// have, which also tells the database of what type the values are.
func eachOf(t *table.Table, f *schema.Field, ids, values []any) clause.Expression {
	each := clause.Expr{SQL: "CASE ?" + strings.Repeat(" WHEN ? THEN ?", len(ids)) + " ELSE ? END", Vars: []any{table.Column(t.Key)}}
	for i := range ids {
		each.Vars = append(each.Vars, ids[i], values[i])
	}
	each.Vars = append(each.Vars, table.Column(f))
	return each
}

// writeEach writes a column of the rows with the ids.
func (s *statement) writeEach(t *table.Table, f *schema.Field, ids, values []any) error {
	_, err := t.UpdateDirect(s.DB, f, eachOf(t, f, ids, values), t.KeyIn(table.Column(t.Key), ids))
	return err
}

// drop removes what is assigned to a column.
func (a *assignment) drop(f *schema.Field) {
	a.set = slices.DeleteFunc(slices.Clone(a.set), func(s clause.Assignment) bool { return s.Column.Name == f.DBName })
}

// complete adds what follows from the new places, versions and fences to what the statement assigns
// to a number of rows, some of which move.
func complete(t *table.Table, a *assignment, moves []plan.Move, rows int, fence uint64) {
	each := func(f *schema.Field, value func(plan.Move) any) {
		var ids, values []any
		for _, m := range moves {
			ids, values = append(ids, m.ID), append(values, value(m))
		}
		a.replace(t, f, ids, values, len(moves) < rows)
	}
	if t.Tree != nil {
		a.drop(t.Tree)
	}
	if a.ByPath {
		each(t.Parent, func(m plan.Move) any { return t.ParentValue(m.After.Parent) })
	}
	for _, f := range t.Following {
		each(f.Field, func(m plan.Move) any { return f.Of(m.After) })
	}
	if t.Version != nil && len(moves) > 0 {
		each(t.Version, func(m plan.Move) any { return m.Version + 1 })
	}
	switch {
	case t.Fence == nil:
	case fence == 0: // a fence does not fall: the column keeps the last one
		a.drop(t.Fence)
	default:
		each(t.Fence, func(plan.Move) any { return fence })
	}
}

// orNothing makes an empty assignment write a column as it is: otherwise GORM would assign what the
// caller states.
func (a *assignment) orNothing(t *table.Table) {
	if len(a.set) == 0 {
		a.set = clause.Set{{Column: clause.Column{Name: t.Parent.DBName}, Value: clause.Column{Name: t.Parent.DBName}}}
	}
}

// operation returns what the assignment does, in a word.
func (a *assignment) operation() string {
	switch {
	case a.Parents != nil:
		return "arrange"
	case a.Deletes:
		return "delete"
	case a.Restores:
		return "restore"
	case a.Parent != nil && a.Name == nil:
		return "move"
	case a.Parent == nil && a.Name != nil:
		return "rename"
	default:
		return "update"
	}
}

// describe says in the statement's path locks what the assignment does.
func (s *statement) describe(a *assignment) {
	s.Operation = a.operation()
	if s.Note = s.Operation + " in " + s.Table.TableName; s.Operation == "update" {
		s.Note = fmt.Sprintf("update of %d columns in %s", len(a.set), s.Table.TableName)
	}
}
