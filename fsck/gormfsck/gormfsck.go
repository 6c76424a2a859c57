// Package gormfsck describes models that are registered with gormplugin to package fsck, so that a
// program need not name their columns again.
package gormfsck

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// New returns a checker for the table of a model, which must be registered with db's plugin. The
// checker uses db's connection pool directly, past GORM and outside of any transaction. For a
// repair, pass the plugin's locker as [fsck.RepairOptions.Locker]. The error matches
// [fsck.ErrTable] if the model's table cannot be checked.
func New(ctx context.Context, db *gorm.DB, model any) (*fsck.Checker, error) {
	table, err := Table(db, model)
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, fmt.Errorf("gormfsck: %w", err)
	}
	return fsck.New(ctx, pool, fsck.Dialect(db.Name()), table)
}

// Table describes the table of a registered model, with those of its leaves that have paths. The
// caller may change the description and pass it to [fsck.New]. If several columns mark a row as
// deleted, it names the first: they change together.
func Table(db *gorm.DB, model any) (fsck.Table, error) {
	d, err := gormplugin.Describe(db, model)
	if err != nil {
		return fsck.Table{}, fmt.Errorf("gormfsck: %w", err)
	}
	if d.Columns.Tree == "" && d.SingleTree == "" {
		return fsck.Table{}, fmt.Errorf("%w: %s holds leaves, which are checked with the model above", fsck.ErrTable, d.Table)
	}
	table, err := describe(d)
	for _, leaf := range d.Leaves {
		l, failed := describe(leaf)
		l.Namespace, err = "", errors.Join(err, failed)
		table.Leaves = append(table.Leaves, l)
	}
	return table, err
}

// describe describes one table.
func describe(d gormplugin.Description) (fsck.Table, error) {
	table := fsck.Table{
		Table: d.Table, Key: d.Key, Tree: d.Columns.Tree, SingleTree: d.SingleTree, Parent: d.Columns.Parent, Name: d.Columns.Name,
		Path: d.Columns.Path, IDPath: d.Columns.IDPath, PathForm: d.Columns.PathForm, IDPathForm: d.Columns.IDPathForm, Version: d.Columns.Version, Namespace: d.Namespace,
	}
	if len(d.Marks) == 0 {
		return table, nil
	}
	mark := d.Marks[0]
	if mark.When == "" && !slices.Contains([]string{"NULL", "0", "FALSE", "''", "'0'"}, mark.Live) {
		return fsck.Table{}, fmt.Errorf("%w: live rows of %s have %s in %s, where NULL, 0, false or the empty text is needed", fsck.ErrTable, d.Table, mark.Live, mark.Column)
	}
	table.Deleted, table.DeletedWhen = mark.Column, mark.When
	return table, nil
}
