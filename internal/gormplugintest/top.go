package gormplugintest

import (
	"fmt"
	"math/rand/v2"
	"reflect"

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

// problems says what is wrong with the shape of the tree.
func (k tops) problems(db *gorm.DB) (problems []string) {
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
	return problems
}
