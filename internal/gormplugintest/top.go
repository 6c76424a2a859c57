package gormplugintest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// topKind is a model of which rows are put at the top: with a path of names, of ids, or with both.
type topKind struct {
	model any
	// domain is the field that says which tree a row is in.
	domain string
	// soft is set where rows are deleted softly, by the column deleted.
	soft bool
}

func topKinds() []topKind {
	return []topKind{{Suite{}, "PlanID", true}, {Folder{}, "DriveID", false}, {Entry{}, "DriveID", false}, {Shelf{}, "DriveID", true}}
}

// tops is a tree of a kind's that has no rows yet.
type tops struct {
	*world
	topKind
	number int64
}

// row makes a row that is not in the table yet. A parent of nil is none.
func (k tops) row(parent any, name string) any {
	row := reflect.New(reflect.TypeOf(k.model))
	v := row.Elem()
	v.FieldByName("Name").SetString(name)
	if tree := v.FieldByName(k.domain); tree.Kind() == reflect.String {
		tree.SetString(fmt.Sprint(k.number))
	} else {
		tree.SetInt(k.number)
	}
	if id := v.FieldByName("ID"); id.Kind() == reflect.String {
		id.SetString(fmt.Sprintf("%032x", rand.Uint64()))
	}
	if field := v.FieldByName("ParentID"); parent != nil && field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field.Elem().Set(reflect.ValueOf(parent))
	} else if parent != nil {
		field.Set(reflect.ValueOf(parent))
	}
	return row.Interface()
}

// put inserts a row and returns its id.
func (k tops) put(parent any, name string) any {
	k.Helper()
	row := k.row(parent, name)
	k.must(k.db.Create(row).Error)
	return k.id(row)
}

func (k tops) id(row any) any { return reflect.ValueOf(row).Elem().FieldByName("ID").Interface() }

// new is an empty row, to name the model.
func (k tops) new() any { return reflect.New(reflect.TypeOf(k.model)).Interface() }

// set writes the parent of the row with the id.
func (k tops) set(tx *gorm.DB, id, parent any) error {
	return tx.Model(k.new()).Where("id = ?", id).Update("parent_id", parent).Error
}

// restore takes the deletion mark off.
func (k tops) restore(tx *gorm.DB, ids ...any) error {
	return tx.Unscoped().Model(k.new()).Where("id IN ?", ids).Update("deleted", nil).Error
}

// problems says what is wrong with the shape of the tree, and how many rows are at its top.
func (k tops) problems(db *gorm.DB) (problems []string, atTop int) {
	stmt := &gorm.Statement{DB: db}
	k.must(stmt.Parse(k.new()))
	query := "SELECT name FROM " + stmt.Schema.Table + " WHERE " + stmt.Schema.LookUpField(k.domain).DBName + " = ? AND COALESCE(parent_id, ?) = ?"
	if k.soft {
		query += " AND deleted IS NULL"
	}
	zero := reflect.Zero(reflect.TypeOf(k.id(k.new()))).Interface()
	tree := reflect.ValueOf(k.row(nil, "")).Elem().FieldByName(k.domain).Interface()
	var names []string
	k.must(db.Raw(query, tree, zero, zero).Scan(&names).Error)
	roots := 0
	for _, name := range names {
		if name == "" {
			roots++
		}
	}
	if roots > 1 || roots == 1 && len(names) > 1 {
		problems = append(problems, fmt.Sprintf("at the top are %q", names))
	}
	return problems, len(names)
}

// topForm is one way to put rows at the top.
type topForm struct {
	name string
	// soft is set for what only softly deleted rows can do.
	soft bool
	// before makes the tree, and returns what the form needs of it.
	before func(k tops) []any
	write  func(k tops, tx *gorm.DB, ids []any) error
	// refused is what the error matches, nil for none.
	refused error
}

func topForms() []topForm {
	root := func(k tops) []any { return []any{k.put(nil, "")} }
	rootAndChild := func(k tops) []any {
		id := k.put(nil, "")
		return []any{k.put(id, "a"), id}
	}
	others := func(k tops) []any { return []any{k.put(nil, "a"), k.put(nil, "b")} }
	nothing := func(tops) []any { return nil }
	// deletedTop is a root row that came after a row at the top had been deleted, which is the
	// first one.
	deletedTop := func(k tops) []any {
		a := k.put(nil, "a")
		k.must(k.db.Delete(k.new(), "id = ?", a).Error)
		return []any{a, k.put(nil, "")}
	}
	create := func(name string) func(tops, *gorm.DB, []any) error {
		return func(k tops, tx *gorm.DB, _ []any) error { return tx.Create(k.row(nil, name)).Error }
	}
	toTop := func(k tops, tx *gorm.DB, ids []any) error { return k.set(tx, ids[0], nil) }
	refused := gormplugin.ErrRootRow
	return []topForm{
		{name: "a row beside a root row", before: root, write: create("x"), refused: refused},
		{name: "a row beside a root row, of the name of its child", before: rootAndChild, write: create("a"), refused: refused},
		{name: "a second root row", before: root, write: create(""), refused: refused},
		{name: "a root row beside others", before: others, write: create(""), refused: refused},
		{name: "a batch of a root row and another", before: nothing, refused: refused, write: func(k tops, tx *gorm.DB, _ []any) error {
			return tx.Create(k.batch(k.row(nil, ""), k.row(nil, "a"))).Error
		}},
		{name: "a batch of two root rows", before: nothing, refused: refused, write: func(k tops, tx *gorm.DB, _ []any) error {
			return tx.Create(k.batch(k.row(nil, ""), k.row(nil, ""))).Error
		}},
		{name: "batches of one", before: nothing, refused: refused, write: func(k tops, tx *gorm.DB, _ []any) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				return tx.CreateInBatches(k.batch(k.row(nil, "a"), k.row(nil, "")), 1).Error
			})
		}},
		{name: "an upsert of a new row", before: root, refused: refused, write: func(k tops, tx *gorm.DB, _ []any) error {
			return tx.Save(k.batch(k.row(nil, "a"))).Error
		}},
		{name: "a move to the top", before: rootAndChild, write: toTop, refused: refused},
		{name: "Updates that move to the top", before: rootAndChild, refused: refused, write: func(k tops, tx *gorm.DB, ids []any) error {
			return tx.Model(k.new()).Where("id = ?", ids[0]).Updates(map[string]any{"parent_id": nil, "name": "z"}).Error
		}},
		{name: "Save without the parent", before: rootAndChild, refused: refused, write: func(k tops, tx *gorm.DB, ids []any) error {
			row := k.row(nil, "a")
			reflect.ValueOf(row).Elem().FieldByName("ID").Set(reflect.ValueOf(ids[0]))
			return tx.Save(row).Error
		}},
		{name: "Move", before: rootAndChild, refused: refused, write: func(k tops, tx *gorm.DB, ids []any) error {
			return gormplugin.Move(tx, k.new(), ids[0], nil)
		}},
		{name: "a rename to nothing", before: others, refused: errAny, write: func(k tops, tx *gorm.DB, ids []any) error {
			return tx.Model(k.new()).Where("id = ?", ids[0]).Update("name", "").Error
		}},
		{name: "a name for the root row", before: root, refused: unsupported, write: func(k tops, tx *gorm.DB, ids []any) error {
			return tx.Model(k.new()).Where("id = ?", ids[0]).Update("name", "a").Error
		}},
		{name: "a restored row beside a root row", soft: true, before: deletedTop, refused: refused, write: func(k tops, tx *gorm.DB, ids []any) error {
			return k.restore(tx, ids[0])
		}},
		{name: "a restored root row beside others", soft: true, refused: refused, before: func(k tops) []any {
			id := k.put(nil, "")
			k.must(k.db.Delete(k.new(), "id = ?", id).Error)
			return []any{id, k.put(nil, "a")}
		}, write: func(k tops, tx *gorm.DB, ids []any) error { return k.restore(tx, ids[0]) }},
		{name: "both restored at once", soft: true, refused: refused, before: func(k tops) []any {
			ids := deletedTop(k)
			k.must(k.db.Delete(k.new(), "id = ?", ids[1]).Error)
			return ids
		}, write: func(k tops, tx *gorm.DB, ids []any) error { return k.restore(tx, ids...) }},

		{name: "a root row of an empty tree", before: nothing, write: create("")},
		{name: "a row of an empty tree", before: nothing, write: create("a")},
		{name: "a row beside others", before: others, write: create("x")},
		{name: "a move to the top beside others", write: toTop, before: func(k tops) []any { return []any{k.put(k.put(nil, "a"), "x")} }},
		{name: "a row after the root row's end", write: create("a"), before: func(k tops) []any {
			ids := rootAndChild(k)
			k.must(k.db.Delete(k.new(), "id = ?", ids[1]).Error)
			return ids
		}},
		{name: "a root row after the others' end", write: create(""), before: func(k tops) []any {
			ids := others(k)
			k.must(k.db.Delete(k.new(), "id IN ?", ids).Error)
			return ids
		}},
		{name: "a restored root row", soft: true, before: func(k tops) []any {
			ids := rootAndChild(k)
			k.must(k.db.Delete(k.new(), "id = ?", ids[1]).Error)
			return ids
		}, write: func(k tops, tx *gorm.DB, ids []any) error { return k.restore(tx, ids...) }},
		{name: "one after the other in a transaction", before: nothing, write: func(k tops, tx *gorm.DB, _ []any) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				row := k.row(nil, "a")
				if err := tx.Create(row).Error; err != nil {
					return err
				}
				if err := tx.Delete(k.new(), "id = ?", k.id(row)).Error; err != nil {
					return err
				}
				return tx.Create(k.row(nil, "")).Error
			})
		}},
	}
}

// batch returns a pointer to a slice of rows.
func (k tops) batch(rows ...any) any {
	slice := reflect.New(reflect.SliceOf(reflect.PointerTo(reflect.TypeOf(k.model))))
	for _, row := range rows {
		slice.Elem().Set(reflect.Append(slice.Elem(), reflect.ValueOf(row)))
	}
	return slice.Interface()
}

// checkTop has every form put rows at the top of trees of every kind: a tree has either one root
// row, which is its only row at the top, or none.
func checkTop(t *testing.T, d Database) {
	for _, kind := range topKinds() {
		t.Run(reflect.TypeOf(kind.model).Name(), func(t *testing.T) {
			w := newWorld(t, d, settings{})
			for _, form := range topForms() {
				if form.soft && !kind.soft {
					continue
				}
				t.Run(form.name, func(t *testing.T) {
					inner := *w
					inner.T = t
					for _, within := range []bool{false, true} {
						k := tops{world: &inner, topKind: kind, number: rand.Int64N(1 << 50)}
						form.try(k, within)
					}
				})
			}
		})
	}
}

// try runs one form, in a transaction that is committed whatever becomes of the form if within is
// set.
func (f topForm) try(k tops, within bool) {
	k.Helper()
	ids := f.before(k)
	_, before := k.problems(k.db)
	write := func() error { return f.write(k, k.db, ids) }
	if within {
		write = func() error {
			tx := k.db.Begin()
			k.must(tx.Error)
			err := f.write(k, tx, ids)
			// What is refused was not written, and leaves the transaction as it was.
			k.must(tx.Commit().Error)
			return err
		}
	}
	err := write()
	if !isA(err, f.refused) && (!errors.Is(f.refused, errAny) || err == nil) {
		k.Errorf("within a transaction %v: got the error %v, want %v", within, err, f.refused)
	}
	found, after := k.problems(k.db)
	if f.refused != nil && after != before {
		k.Errorf("within a transaction %v: it was refused, and yet %d rows are at the top, where %d were", within, after, before)
	}
	for _, problem := range found {
		k.Errorf("within a transaction %v: %s", within, problem)
	}
}
