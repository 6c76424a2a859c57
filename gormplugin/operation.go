package gormplugin

import (
	"context"
	"encoding"
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock"
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
func subject(db *gorm.DB, model any) (*Plugin, *table, error) {
	p, err := pluginOf(db)
	if err != nil {
		return nil, nil, err
	}
	t, err := p.catalogue.tableFor(model)
	return p, t, err
}

// fresh returns a new row of the model.
func (t *table) fresh() any { return reflect.New(t.schema.ModelType).Interface() }

// keyOf returns an id in plain form: see [plain].
func (t *table) keyOf(id any) (any, error) {
	key, err := plain(id)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", pathlock.ErrInvalidID, t.name, err)
	}
	text, ok := key.(string)
	typ := reflect.TypeOf(id)
	for typ != nil && typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if !ok || typ == t.key.IndirectFieldType || !t.parsesKeys() {
		return key, nil
	}
	return t.parseKey(text)
}

// parsesKeys reports whether the text form of a key differs from what the column holds.
func (t *table) parsesKeys() bool {
	typ := t.key.IndirectFieldType
	if _, ok := reflect.New(typ).Interface().(encoding.TextUnmarshaler); ok {
		return true
	}
	return reflect.Int <= typ.Kind() && typ.Kind() <= reflect.Uint64
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
	return persist(db.Statement.Context, db, p.frame.maxTries, func() error { return do(db) })
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
func (e *errand) statement(db *gorm.DB, t *table) *gorm.DB {
	e.alone = len(db.Statement.Clauses) == 0 && !db.Statement.Unscoped
	return db.Model(t.fresh()).Where(clause.Eq{Column: column(t.key), Value: e.id}).InstanceSet(errandKey, e)
}

// structOf returns the struct of the table that a model points to, an invalid value if it does not.
func (t *table) structOf(model any) reflect.Value {
	v := reflect.ValueOf(model)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Type() != t.schema.ModelType {
		return reflect.Value{}
	}
	return v.Elem()
}

// tell writes into the caller's struct where the row is after an update.
func (e *errand) tell(ctx context.Context, x *turn) error {
	if e == nil || !e.into.IsValid() || x.hit.live[e.id] == nil {
		return nil
	}
	t, n := x.table, *x.hit.live[e.id]
	for _, m := range x.moves {
		if m.id == e.id {
			n.path, n.ids, n.version = m.path, m.ids, m.version+1
		}
	}
	n.parent, n.name = x.assignment.parentOf(&n), x.assignment.nameOf(&n)
	for _, part := range []struct {
		field *schema.Field
		value any
	}{{t.key, n.id}, {t.tree, n.tree}, {t.parent, n.parent}, {t.label, n.name}, {t.version, n.version}} {
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
	if t.isLeaf() {
		return t.tell(ctx, e.into, n.path)
	}
	return t.setPaths(record{ctx: ctx, row: e.into}, &n)
}

// isWritable refuses to change a column that GORM is told not to update, which it would leave out
// without a word.
func (t *table) isWritable(f *schema.Field) error {
	if f.Updatable {
		return nil
	}
	return t.unsupported("the model's tag `gorm:%q` forbids updates of %q", f.Tag.Get("gorm"), f.DBName)
}

// missed is the error of a statement that hits nothing, where it should hit a row. A statement
// without an errand may hit as many as it likes.
func (e *errand) missed(t *table, hit targets) error {
	if e == nil || len(hit.live) > 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.row(e.id))
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
