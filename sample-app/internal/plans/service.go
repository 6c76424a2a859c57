// Package plans is the test-plan backend without its HTTP interface: plans, suites, cases and the
// recycle bin.
//
// It writes trees with plain GORM statements. gormplugin, which is registered in the database,
// keeps the paths right. It finds the locks of the caller in the context, and takes those that are
// missing.
package plans

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// Service does the work of the HTTP interface and the importer, which have checked all names by
// [CheckName]. Its errors are an [*InvalidError] or a [*NameTakenError], or match
// [pathlock.ErrNotFound] or the errors of gormplugin.
type Service struct {
	db     *DB
	suites pathlock.Resolver
}

// New returns a service on a database. The plugin must be registered in db.Write, and suites is its
// resolver.
func New(db *DB, suites pathlock.Resolver) *Service {
	return &Service{db: db, suites: suites}
}

// replans is how often write plans anew because a path has changed.
const replans = 5

// write is [put] for a change that has no result.
func (s *Service) write(ctx context.Context, do func(tx *gorm.DB) error) error {
	_, err := put(ctx, s, func(tx *gorm.DB) (any, error) { return nil, do(tx) })
	return err
}

// recorderKey is the context key of the function of [Recording].
type recorderKey struct{}

// Recording returns a context in which a change hands its result to record, as the last step of its
// transaction: so the answer to a request can be committed together with the change.
func Recording(ctx context.Context, record func(tx *gorm.DB, result any) error) context.Context {
	return context.WithValue(ctx, recorderKey{}, record)
}

// put runs do in a transaction, and hands its result on: see [Recording]. It runs do again if the
// database gave the transaction up for another one, or if the assertion found that a path had
// changed.
func put[T any](ctx context.Context, s *Service, do func(tx *gorm.DB) (T, error)) (result T, err error) {
	change := func(tx *gorm.DB) (err error) {
		if result, err = do(tx); err != nil {
			return err
		}
		if suite, ok := any(result).(Suite); ok {
			if err := Changed(tx, suite.PlanID); err != nil {
				return err
			}
		}
		if record, ok := ctx.Value(recorderKey{}).(func(*gorm.DB, any) error); ok {
			return record(tx, result)
		}
		return nil
	}
	for again := 0; ; again++ {
		err = gormplugin.Transaction(ctx, s.db.Write, change, isolation(s.db))
		if !errors.Is(err, pathlock.ErrPathChanged) || again == replans {
			return result, inOwnTerms(err)
		}
	}
}

// isolation returns how writing transactions are isolated. After a transaction has locked rows on a
// server, its reads must not be older than the lock: so every statement sees what was committed
// before it. The sessions of MySQL do so, and SQLite has one writer at a time anyway.
func isolation(db *DB) *sql.TxOptions {
	if db.Dialect == sqlstore.Postgres {
		return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	}
	return nil
}

// forUpdate locks the rows that tx reads until its transaction ends.
func forUpdate(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
}

// InvalidError names the argument that is not valid.
type InvalidError struct {
	// Field is the argument's name in the HTTP interface.
	Field  string
	Reason string
}

// Error implements error.
func (e *InvalidError) Error() string { return e.Field + " " + e.Reason }

// load reads the row with the id. The error of a missing row calls it what.
func load[T any](tx *gorm.DB, what string, id int64) (T, error) {
	var row T
	err := tx.Take(&row, id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return row, fmt.Errorf("%w: %s %d", pathlock.ErrNotFound, what, id)
	}
	return row, err
}

// NameTakenError says which name a sibling, or another plan of the project, has: "" if it is one of
// several, as in an import. It matches [gormplugin.ErrNameTaken].
type NameTakenError struct{ Name string }

// Error implements error.
func (e *NameTakenError) Error() string {
	if e.Name == "" {
		return "others have taken one of the names in the meantime: send the request again"
	}
	return fmt.Sprintf("the name %q is taken", e.Name)
}

// Unwrap returns [gormplugin.ErrNameTaken].
func (e *NameTakenError) Unwrap() error { return gormplugin.ErrNameTaken }

// refused says in terms of this package why the plugin refused a write. explain loads what the
// arguments of the write name, and fails unless they are right. It runs only after a refusal,
// because the plugin reads the same rows on every write. An error of the database stays as it is,
// since it may have ended the transaction.
func refused[T any](err error, explain func() (T, error)) error {
	if !errors.Is(err, gormplugin.ErrUnsupported) && !errors.Is(err, pathlock.ErrNotFound) {
		return err
	}
	if _, why := explain(); why != nil {
		return why
	}
	return err
}

// inOwnTerms translates the plugin's reason against a change into this package's terms.
func inOwnTerms(err error) error {
	if taken, ok := errors.AsType[*gormplugin.NameTakenError](err); ok {
		return &NameTakenError{taken.Path.Base()}
	}
	if deep, ok := errors.AsType[*gormplugin.TooDeepError](err); ok {
		return TooDeep("parent_id", deep.Depth)
	}
	return err
}

// TooDeep returns the error of a change after which the deepest suite would have a depth.
func TooDeep(field string, depth int) error {
	return &InvalidError{field, fmt.Sprintf("is too deep: something would lie %d suites deep, at most %d are allowed", depth, MaxDepth)}
}
