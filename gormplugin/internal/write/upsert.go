package write

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// associationsKey is what GORM sets on the statements by which it saves the associations of a row.
const associationsKey = "gorm:saved_association_map"

// withinKey is what an upsert sets on the updates that it consists of.
const withinKey = "pathlock:within"

// isUpsert reports whether an insert may turn into an update. GORM runs an upsert for a Save whose
// UPDATE changed nothing, and to save associations.
func (s *statement) isUpsert() bool {
	_, ok := s.DB.Statement.Clauses[conflictClause]
	return ok
}

// settleUpsert decides about an upsert. MySQL's form of it matches any unique key, so that a new
// row could silently take over a sibling of the same name. Hence rows that are not in the table are
// plainly inserted, and only the others are left to the clause. The field from is set in those that
// the clause would move or rename: an UPDATE does that first.
func (s *statement) settleUpsert(rows []*arrival, lock string) (fresh, present []*arrival, err error) {
	t, db, stmt := s.Table, s.DB, s.DB.Statement
	conflict := clauseOf[clause.OnConflict](stmt)
	if err := checkConflict(t, conflict); err != nil {
		return nil, nil, err
	}
	var ids []any
	for _, row := range rows {
		if row.ID != nil {
			ids = append(ids, row.ID)
		}
	}
	found, err := t.ByID(db, ids, lock)
	if err != nil {
		return nil, nil, err
	}
	if err := refuseDeleted(t, db, ids, found, lock); err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return rows, nil, nil
	}
	seen := make(map[any]*arrival, len(rows))
	for _, row := range rows {
		n := found[row.ID]
		if n == nil {
			fresh = append(fresh, row)
			continue
		}
		if err := s.settlePresent(conflict, row, n, seen[row.ID]); err != nil {
			return nil, nil, err
		}
		present = append(present, row)
		seen[row.ID] = row
	}
	return fresh, present, nil
}

// settlePresent decides what an upsert does to a row that is in the table as n: what it writes, or
// why it cannot. earlier is the same row, if the upsert has it twice.
func (s *statement) settlePresent(conflict clause.OnConflict, row *arrival, n *table.Node, earlier *arrival) error {
	t, stmt := s.Table, s.DB.Statement
	_, associated := s.DB.Get(associationsKey)
	if row.ByPath && !t.PathForm.OfParent && !isSave(stmt) {
		if name, _ := row.Get(t.Name); name != row.Name || row.Above().Path != "" {
			return t.Unsupported("an upsert cannot place the existing row %s by its path: state the parent and the name", shown.ID(n.ID))
		}
	}
	row.ByPath = row.ByPath && t.PathForm.OfParent && writes(conflict, t.Path)
	switch moves := displaces(t, conflict, row, n); {
	case isSave(stmt) && (moves || row.isStale(n)):
		return stale(t, n)
	case moves && !row.ByPath && row.isStale(n) && (n.Parent != row.Parent || !t.StatedBelow(n, row.Stated)):
		// Somebody has moved the row since it was loaded, which the caller does not mean to undo.
		return &fault.PathChangedError{Table: t.TableName, ID: n.ID, Planned: row.Stated, Actual: n.Path}
	case moves && associated && n.Parent != row.Parent:
		return t.Unsupported("an association (Append, Replace, or a field of what is saved) cannot take over the row %s, which has another parent: "+
			"use gormplugin.Move(db, &%s{}, %[1]s, gormplugin.Below(%[3]s)), and Omit(clause.Associations) where it is meant to stay", shown.ID(n.ID), t.Schema.Name, shown.ID(row.Parent))
	case moves && !writesPlace(stmt, conflict, row):
		return t.Unsupported("an upsert with Select, Omit, a Where, or a map that does not state the whole place cannot give the row %s another one: use Updates, or gormplugin.Move", shown.ID(n.ID))
	case earlier != nil && (moves || earlier.from != nil):
		return t.Unfit("an upsert states the row %s twice, and moves it: leave one out", shown.ID(n.ID))
	case moves:
		row.from = n
		if !row.ByPath && !writes(conflict, t.Parent) {
			row.Parent = n.Parent
		}
		if row.Tree == nil || t.Tree == nil || !writes(conflict, t.Tree) {
			row.Tree, row.StatedTree = n.Tree, n.Tree
		}
	}
	if row.from == nil || t.Name != nil && !writes(conflict, t.Name) {
		// The database does not write the name, which must not collide with a sibling's, though.
		row.Name = n.Name
	}
	if row.from == nil {
		// The stated path may be outdated, as a row above may have moved: it is not written.
		row.Node = n
	}
	return nil
}

// upsert gives the rows of the statement that are in the table the places that it states, inserts
// the others, and lets the clause write the other columns.
func (k *inserting) upsert() error {
	t, stmt := k.Table, k.DB.Statement
	rows, err := k.arrivals()
	if err != nil {
		return err
	}
	fresh, present, err := k.settleUpsert(rows, k.Dialect.Update)
	if err != nil {
		return err
	}
	clauses, dest, value := stmt.Clauses, stmt.Dest, stmt.ReflectValue
	defer func() { stmt.Clauses, stmt.Dest, stmt.ReflectValue = clauses, dest, value }()
	err = k.moveFirst(present)
	if k.written {
		k.seen = nil // new rows may lie below
	}
	var affected int64
	if err == nil && len(fresh) > 0 {
		stmt.Clauses = maps.Clone(clauses)
		delete(stmt.Clauses, conflictClause)
		k.absent = true
		if len(present) > 0 {
			only(stmt, fresh)
		}
		if err = k.insert(); err == nil {
			affected = k.DB.RowsAffected
		}
	}
	if err == nil && len(present) > 0 {
		stmt.Clauses = clauses
		stmt.SQL.Reset()
		stmt.Vars = nil
		if len(fresh) > 0 {
			only(stmt, present)
		}
		if err = k.settleEach(present, func(row *arrival) error { return restate(t, row) }); err == nil {
			k.create()
			err = k.DB.Error
		}
		c, _ := clauses[conflictClause].Expression.(clause.OnConflict)
		if err == nil && !c.DoNothing && len(c.Where.Exprs) == 0 {
			// MySQL counts two for each row, and none for one that the plugin has moved before.
			k.DB.RowsAffected = int64(len(present))
		}
		k.DB.RowsAffected += affected
	}
	return err
}

// only restricts a statement that creates rows to some of them.
func only(stmt *gorm.Statement, rows []*arrival) {
	if rows[0].Pairs != nil {
		pairs := valuesOf(rows, func(row *arrival) map[string]any { return row.Pairs })
		// GORM appends the rows that are returned.
		stmt.Dest, stmt.ReflectValue = &pairs, reflect.ValueOf(&pairs).Elem()
		return
	}
	of := reflect.SliceOf(reflect.PointerTo(rows[0].Row.Type()))
	structs := reflect.New(of).Elem() // GORM sets its length where rows are returned
	structs.Set(reflect.MakeSlice(of, len(rows), len(rows)))
	for i, row := range rows {
		structs.Index(i).Set(row.Row.Addr())
	}
	stmt.Dest, stmt.ReflectValue = structs.Interface(), structs
}

// moveFirst gives the rows of an upsert that are elsewhere their new places, one by one, as an
// update would.
func (s *statement) moveFirst(rows []*arrival) error {
	t := s.Table
	for _, row := range rows {
		if row.from == nil {
			continue
		}
		place := map[*schema.Field]any{t.Parent: row.Parent, t.Name: row.Name, t.Tree: row.Tree}
		if row.ByPath {
			delete(place, t.Parent)
			place[t.Path] = t.PathForm.Print(row.Stated)
		}
		values := make(map[string]any)
		for f, value := range place {
			if f != nil {
				values[f.DBName] = value
			}
		}
		db := s.DB.Session(&gorm.Session{NewDB: true, SkipHooks: true}).Set(withinKey, true)
		if err := db.Model(t.Fresh()).Where(clause.Eq{Column: table.Column(t.Key), Value: row.ID}).UpdateColumns(values).Error; err != nil {
			return err
		}
		s.written = true
	}
	if !s.written {
		return nil
	}
	ids := valuesOf(rows, func(row *arrival) any { return row.ID })
	now, err := t.ByID(s.DB, ids, s.Dialect.Update)
	for _, row := range rows {
		if row.Node = now[row.ID]; row.Node == nil && err == nil {
			return s.missed(int64(len(ids)), int64(len(now)))
		}
	}
	return err
}

// stale is the error of a Save whose UPDATE has hit no row, though n is there.
func stale(t *table.Table, n *table.Node) error {
	return fmt.Errorf("%w: read the row again: %w", fault.ErrStale, shown.Inside("the UPDATE of Save hit no row, though "+t.RowName(n.ID)+
		" is there: its version is another by now, or a condition does not hold; Updates reports RowsAffected 0 instead"))
}

// refuseDeleted refuses an upsert of a row that is in the table, but not among the live ones.
func refuseDeleted(t *table.Table, db *gorm.DB, ids []any, present map[any]*table.Node, lock string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id any) bool { return present[id] != nil })
	if len(t.Deletion) == 0 || len(ids) == 0 {
		return nil
	}
	// Asked for by their marks: a live row may have come since the live ones were read.
	dead := clause.Expr{SQL: "(?) IS NOT TRUE", Vars: []any{t.Alive}}
	all, err := t.Read(db, table.Selection{Keys: ids, Where: dead, Unscoped: true, Lock: lock})
	if err != nil || len(all) == 0 {
		return err
	}
	why := "%s: first bring it back by an update of %q, through db.Unscoped() if GORM hides the row"
	inside := shown.Inside(fmt.Sprintf(why, t.RowName(all[0].ID), t.Deletion[0].DBName))
	// It is stale, too: the caller may have read it before.
	return fmt.Errorf("%w: %w: the row is deleted: %w", fault.ErrStale, fault.ErrUnsupported, inside)
}

// isStale reports whether the row has moved since it was loaded.
func (row *arrival) isStale(n *table.Node) bool {
	return !row.Table.AsStated(n, row.Stated, row.StatedIDs)
}

// restate makes an upsert write what the row has already: the caller cannot change what follows
// from its place.
func restate(t *table.Table, row *arrival) error {
	return errors.Join(
		row.Set(t.Version, row.Version), row.Set(t.Fence, row.Fence), row.Set(t.Tree, row.Tree), t.SetFollowing(row.Record, row.Node),
		row.Set(t.Parent, t.ParentValue(row.Parent)), row.Set(t.Name, row.Name),
	)
}
