package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/again"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// The operations on trees (Rename, Move, Copy, Delete, and the queries Subtree, Ancestors,
// Children, Leaves and At) have in common what their arguments mean:
//
//   - db is what GORM's own methods are called on, with the caller's context; conditions on it
//     narrow down which rows are found;
//   - model is a pointer to a registered model, and says which table is meant;
//   - id is a primary key as the model has it, or its text form.

// subject returns the plugin that db uses and the table that a model stands for.
func subject(db *gorm.DB, model any) (*Plugin, *table.Table, error) {
	p, err := pluginOf(db)
	if err != nil {
		return nil, nil, err
	}
	t, err := p.catalogue.TableFor(model)
	return p, t, err
}

// operate runs do on what db works on. In a transaction of the caller's it takes part. Otherwise do
// is, or makes, a transaction of its own, and is run again while the database gives it up in favour
// of others.
func (p *Plugin) operate(db *gorm.DB, do func(db *gorm.DB) error) error {
	if db.Error != nil {
		return db.Error
	}
	running, err := p.owner.TransactionOf(db)
	if err != nil {
		return err
	}
	db = db.Session(&gorm.Session{Context: p.owner.Join(db.Statement.Context)})
	if running != nil {
		return do(db)
	}
	return again.Persist(db.Statement.Context, db, p.frame.MaxTries, func() error { return do(db) })
}
