package gormplugin

import (
	"gorm.io/gorm"
)

// Description is a registered model as the database knows it, for programs that read its table past
// GORM.
type Description struct {
	// Table is the table's name, and Key its primary key.
	Table, Key string
	// Namespace is the first argument of [pathlock.NewTree] for the model's trees.
	Namespace string
	// Columns are the others, by the database's names. Of a leaf, Tree, Path and IDPath are empty.
	Columns Columns
	// Marks are the columns that mark a row as deleted; none if rows are deleted for good.
	Marks []Mark
}

// Mark is a column that marks a row as deleted.
type Mark struct {
	Column string
	// Live is the column's value in a row that is not deleted, as SQL: NULL, or a literal such as
	// 0.
	Live string
}

// Describe says which columns of which table a model's fields are. The model has to be registered
// with the plugin that db uses.
func Describe(db *gorm.DB, model any) (Description, error) {
	_, t, err := subject(db, model)
	if err != nil {
		return Description{}, err
	}
	d := Description{Table: t.TableName, Key: t.Key.DBName, Namespace: t.Above.Namespace}
	d.Columns.Parent, d.Columns.Name = t.Parent.DBName, t.Name.DBName
	if t.Tree != nil {
		d.Columns.Tree = t.Tree.DBName
	}
	if t.Version != nil {
		d.Columns.Version = t.Version.DBName
	}
	if t.Fence != nil {
		d.Columns.Fence = t.Fence.DBName
	}
	layout := t.Layout()
	for _, path := range layout.Paths {
		if path.OfIDs {
			d.Columns.IDPath = path.Column
		} else {
			d.Columns.Path = path.Column
		}
	}
	for _, mark := range layout.Marks {
		d.Marks = append(d.Marks, Mark{Column: mark.Column, Live: mark.Live})
	}
	return d, nil
}
