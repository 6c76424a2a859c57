package gormplugintest

import (
	"cmp"
	"reflect"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"pgregory.net/rapid"
)

// refused draws writes that are refused whatever the tree is.
func (m *machine) refused() statement {
	x := m.table
	id := pick(m, m.live(), "row")
	key := m.keys[id]
	byID := func(db *gorm.DB) *gorm.DB { return db.Model(x.new()).Where("id = ?", key) }
	unsupported, elsewhere := []error{gormplugin.ErrUnsupported}, append([]error{gormplugin.ErrUnsupported}, noPlace...)
	path := x.path
	if path == "" {
		path = x.ids
	}
	type refusal struct {
		what    string
		reasons []error
		run     func(db *gorm.DB) error
	}
	table := clause.Table{Name: x.schema.Table}
	all := []refusal{
		{"a path", elsewhere, func(db *gorm.DB) error { return byID(db).Update(path, "/else/where").Error }},
		{"a path as expression", unsupported, func(db *gorm.DB) error { return byID(db).Update(path, gorm.Expr("'/x'")).Error }},
		{"another key", unsupported, func(db *gorm.DB) error { return byID(db).Update("id", x.missing()).Error }},
		{"a row without its table's model", unsupported, func(db *gorm.DB) error {
			return db.Table(x.schema.Table).Where("id = ?", key).Update(x.parent, key).Error
		}},
		{"an alias", unsupported, func(db *gorm.DB) error {
			return db.Table(x.quoted(db)+" AS s").Model(x.new()).Where("s.id = ?", key).Update(x.label, "z").Error
		}},
		{"a joined table", unsupported, func(db *gorm.DB) error {
			return db.Table("others, "+x.quoted(db)).Where("1 = 0").Update(x.schema.Table+"."+x.label, "z").Error
		}},
		{"UPDATE IGNORE", unsupported, func(db *gorm.DB) error {
			return byID(db).Clauses(clause.Update{Modifier: "IGNORE"}).Update(x.label, "z").Error
		}},
		{"a column that is no name", unsupported, func(db *gorm.DB) error {
			return byID(db).Clauses(clause.Set{{Column: clause.Column{Name: x.label + " = 'z', " + x.label, Raw: true}, Value: "y"}}).Updates(map[string]any{}).Error
		}},
		{"INSERT IGNORE", unsupported, func(db *gorm.DB) error {
			return db.Clauses(clause.Insert{Modifier: "IGNORE"}).Create(x.row(map[string]any{x.parent: key, x.label: "z"})).Error
		}},
		{"another model's INSERT, turned to this table", unsupported, func(db *gorm.DB) error {
			return db.Clauses(clause.Insert{Table: table}).Create(&Other{Name: "z"}).Error
		}},
		{"a map without the table's model", unsupported, func(db *gorm.DB) error {
			row := map[string]any{x.label: "z", path: "/z"}
			x.putIn(row, m.trees[0])
			return db.Table(x.schema.Table).Create(row).Error
		}},
		{"a join", unsupported, func(db *gorm.DB) error {
			return db.Joins("JOIN others ON others.id = 0").Where(x.of(key)).Delete(x.new()).Error
		}},
		{"a DELETE without a model", unsupported, func(db *gorm.DB) error { return db.Table(x.schema.Table).Where("id = ?", key).Delete(nil).Error }},
		{"a move below no row", []error{pathlock.ErrNotFound}, func(db *gorm.DB) error {
			return gormplugin.Move(db, x.new(), key, gormplugin.Below(reflect.Zero(reflect.TypeOf(key)).Interface()))
		}},
		{"all rows", []error{gorm.ErrMissingWhereClause}, func(db *gorm.DB) error { return db.Delete(x.new()).Error }},
	}
	if x.pathForm.ofParent {
		all = append(all, refusal{"a path in another form", []error{gormplugin.ErrMisplaced}, func(db *gorm.DB) error { return byID(db).Update(path, "else//where").Error }})
	}
	if x.pathForm.ofParent && x.mark != "" {
		all = append(all, refusal{"a path of a deleted row", unsupported, func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error {
				return cmp.Or(byID(tx).Delete(x.new()).Error, byID(tx.Unscoped()).Update(path, x.pathForm.of("/x")).Error)
			})
		}})
	}
	if x.treeColumn != "" {
		all = append(all, refusal{"another tree", unsupported, func(db *gorm.DB) error { return byID(db).Update(x.treeColumn, m.trees[1-m.rows[id].tree]).Error }})
	}
	if !x.nameless {
		all = append(all,
			refusal{"a name as expression", unsupported, func(db *gorm.DB) error {
				return byID(db).Update(x.label, gorm.Expr("UPPER("+db.Statement.Quote(x.label)+")")).Error
			}},
			refusal{"Omit of a name", unsupported, func(db *gorm.DB) error {
				return db.Omit(x.label).Create(x.row(map[string]any{x.parent: key, x.label: "z"})).Error
			}})
	}
	if x.mark != "" {
		all = append(all, refusal{"a deleted row", unsupported, func(db *gorm.DB) error {
			return db.Create(x.row(map[string]any{x.parent: key, x.label: "z", x.mark: cmp.Or(x.gone, any(1))})).Error
		}})
	}
	one := all[rapid.IntRange(0, len(all)-1).Draw(m.T, "which")]
	return statement{what: "refused: " + one.what, run: one.run, after: m.forest, reasons: one.reasons}
}
