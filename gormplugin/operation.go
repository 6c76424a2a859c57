package gormplugin

import (
	"context"
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/again"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
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
	return again.Persist(db.Statement.Context, db, p.frame.maxTries, func() error { return do(db) })
}

// errand is what an operation on one row asks of the statement that does it, and what it learns
// from it.
type errand struct {
	id any
	// alone is set where no condition but the id says which row is meant.
	alone bool
	// into is the struct that is told where the row is then; invalid if the caller has none.
	into reflect.Value
	// along is how many rows went along with the row.
	along int64
}

// errandKey is where a statement's errand is kept, per instance.
const errandKey = "pathlock:errand"

// errandOf returns what a statement was sent for, nil if it is not part of an operation.
func errandOf(db *gorm.DB) *errand {
	if value, ok := db.InstanceGet(errandKey); ok {
		e, _ := value.(*errand)
		return e
	}
	return nil
}

// statement begins the statement, on the one live row that e is about.
func (e *errand) statement(db *gorm.DB, t *table.Table) *gorm.DB {
	e.alone = len(db.Statement.Clauses) == 0 && !db.Statement.Unscoped
	return db.Model(t.Fresh()).Where(clause.Eq{Column: table.Column(t.Key), Value: e.id}).InstanceSet(errandKey, e)
}

// tell writes into the caller's struct where the row is after an update.
func (e *errand) tell(ctx context.Context, x *turn) error {
	if e == nil || !e.into.IsValid() || x.hit.live[e.id] == nil {
		return nil
	}
	t, n := x.table, *x.hit.live[e.id]
	for _, m := range x.moves {
		if m.ID == e.id {
			n.Path, n.IDs, n.Version = m.path, m.ids, m.Version+1
		}
	}
	n.Parent, n.Name = x.assignment.parentOf(&n), x.assignment.nameOf(&n)
	for _, part := range []struct {
		field *schema.Field
		value any
	}{{t.Key, n.ID}, {t.Tree, n.Tree}, {t.Parent, n.Parent}, {t.Name, n.Name}, {t.Version, n.Version}} {
		if part.field == nil {
			continue
		}
		// GORM assigns through a pointer that is there already, and that may well be one to the old
		// parent's own id.
		if place := part.field.ReflectValueOf(ctx, e.into); place.Kind() == reflect.Pointer {
			place.SetZero()
		}
		if err := part.field.Set(ctx, e.into, part.value); err != nil {
			return err
		}
	}
	if t.IsLeaf() {
		return t.Tell(ctx, e.into, n.Path)
	}
	return t.SetPaths(table.Record{Ctx: ctx, Row: e.into}, &n)
}

// missed is the error of a statement that hits nothing, where it should hit a row. A statement
// without an errand may hit as many as it likes.
func (e *errand) missed(t *table.Table, hit targets) error {
	if e == nil || len(hit.live) > 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.RowName(e.id))
}

// wentAlong counts rows that a statement changed beside those that it was told to.
func (e *errand) wentAlong(rows int64) {
	if e != nil {
		e.along += rows
	}
}

// explained is the error that a caller should see in the place of err, on a db of the plugin's own;
// see [Plugin.explain].
func (p *frame) explained(db *gorm.DB, st *statement, err error) error {
	if err == nil {
		return nil
	}
	_ = db.AddError(err)
	p.explain(db, st)
	return db.Error
}
