package gormplugin

import (
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// marksDeletion reports whether a column marks rows as deleted. Its type hides rows from queries,
// and turns a DELETE into an UPDATE of the column. A type that does only the first is a condition
// of the caller's, such as that of a tenant.
func marksDeletion(db *gorm.DB, parsed *schema.Schema, f *schema.Field) bool {
	if f.DBName == "" {
		return false
	}
	value := reflect.New(f.IndirectFieldType).Interface()
	if _, hides := value.(schema.QueryClausesInterface); !hides {
		return false
	}
	mark, ok := value.(schema.DeleteClausesInterface)
	if !ok {
		return false
	}
	row := reflect.New(parsed.ModelType)
	stmt := db.Session(&gorm.Session{NewDB: true, DryRun: true}).Model(row.Interface()).Statement
	if err := stmt.Parse(row.Interface()); err != nil {
		return false
	}
	stmt.Dest, stmt.ReflectValue = row.Interface(), row.Elem()
	for _, c := range mark.DeleteClauses(f) {
		stmt.AddClause(c)
	}
	set, _ := stmt.Clauses["SET"].Expression.(clause.Set)
	return stmt.SQL.Len() > 0 || slices.ContainsFunc(set, func(a clause.Assignment) bool { return a.Column.Name == f.DBName })
}

// isDead reports whether an update hits rows that are deleted softly, none of which it restores,
// and no others. They are no part of the tree: their place is the caller's to write.
func (x *turn) isDead() bool {
	return len(x.hit.live) == 0 && len(x.hit.dead) > 0 && !x.assignment.restores
}

// checkMixed refuses an update that states the tree or a path of deleted rows and of live ones at
// once: what is right for the former is not the caller's to say for the latter.
func (x *turn) checkMixed() error {
	if len(x.hit.live) == 0 || len(x.hit.dead) == 0 || x.assignment.restores {
		return nil
	}
	t := x.table
	for _, f := range []*schema.Field{t.tree, t.path, t.ids, t.fence} {
		if f != nil && x.assignment.states(f) {
			return t.unsupported("%q of deleted rows cannot be set together with that of live ones: use two updates", f.DBName)
		}
	}
	return nil
}

// states reports whether a column is assigned.
func (a *assignment) states(f *schema.Field) bool {
	return slices.ContainsFunc(a.set, func(s clause.Assignment) bool { return s.Column.Name == f.DBName })
}
