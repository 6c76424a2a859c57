// Package plans is the test-plan backend without its HTTP interface: plans,
// suites, cases and the recycle bin.
//
// It writes trees with plain GORM statements. That their paths stay right is the work of
// gormplugin, which is registered in the database; locks that the caller took are found in the
// context, and taken where nobody did.
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
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// Service does what the HTTP interface and the importer ask for. Its errors match
// [ErrInvalid], [ErrNameTaken], [pathlock.ErrNotFound] and those of gormplugin.
type Service struct {
	db     *database.DB
	suites pathlock.Resolver
}

// New returns a service on a database. The plugin has to be registered in
// db.Write already; suites is its resolver.
func New(db *database.DB, suites pathlock.Resolver) *Service {
	return &Service{db: db, suites: suites}
}

// replans is how often work is planned anew because a path that it rested on had changed.
const replans = 5

// write runs do in a transaction, again if the database gave it up because others were in the way,
// or if the assertion found that a path had changed. It may therefore run more than once.
func (s *Service) write(ctx context.Context, do func(tx *gorm.DB) error) error {
	for again := 0; ; again++ {
		err := gormplugin.Transaction(ctx, s.db.Write, do, s.isolation())
		if !errors.Is(err, pathlock.ErrPathChanged) || again == replans {
			return err
		}
	}
}

// isolation returns how writing transactions are isolated. On a server every statement is to see
// what others have committed by then: what a transaction reads after it has locked the rows that it
// rests on must not be older than the lock. SQLite has one writer at a time anyway.
func (s *Service) isolation() *sql.TxOptions {
	if s.db.Dialect == database.SQLite || s.db.ReadCommitted {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
}

// forUpdate locks the rows that are read until the end of the transaction.
func forUpdate(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
}

// snapshot runs do in a transaction that sees the database as it is at one instant.
func (s *Service) snapshot(ctx context.Context, do func(tx *gorm.DB) error) error {
	opts := &sql.TxOptions{ReadOnly: true}
	if s.db.Dialect != database.SQLite {
		opts.Isolation = sql.LevelRepeatableRead
	}
	return s.db.Read.WithContext(ctx).Transaction(do, opts)
}

// The reasons for which the service refuses, beside those of packages pathlock and gormplugin.
var (
	// ErrInvalid: an argument cannot be what it is meant to be. The error is an [*InvalidError].
	ErrInvalid = errors.New("invalid request")
	// ErrNameTaken: a sibling, or another plan of the project, has the name. The error of a
	// single change is a [*NameTakenError].
	ErrNameTaken = gormplugin.ErrNameTaken
)

// InvalidError names the argument that cannot be. It matches [ErrInvalid].
type InvalidError struct {
	// Field is the argument's name in the HTTP interface.
	Field  string
	Reason string
}

// Error implements error.
func (e *InvalidError) Error() string { return e.Field + " " + e.Reason }

// Unwrap returns [ErrInvalid].
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// checkName refuses what cannot be a name.
func checkName(field, name string) error {
	if err := model.CheckName(name); err != nil {
		return &InvalidError{field, err.Error()}
	}
	return nil
}

// one loads the row with the id, or says that there is none.
func one[T any](tx *gorm.DB, what string, id int64) (T, error) {
	var row T
	err := tx.Take(&row, id).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return row, fmt.Errorf("%w: %s %d", pathlock.ErrNotFound, what, id)
	}
	return row, err
}

// removed says that there was nothing to delete, where another one came first.
func removed(result *gorm.DB, what string, id int64) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return fmt.Errorf("%w: %s %d", pathlock.ErrNotFound, what, id)
	}
	return result.Error
}

// NameTakenError says which name it is that another one has. It matches [ErrNameTaken].
type NameTakenError struct{ Name string }

// Error implements error.
func (e *NameTakenError) Error() string { return fmt.Sprintf("the name %q is taken", e.Name) }

// Unwrap returns [ErrNameTaken].
func (e *NameTakenError) Unwrap() error { return ErrNameTaken }

// refused finds out why the plugin has refused a write, in words of this package: explain says what
// is wrong with its arguments, or returns nil. What is right is not read before the write: the
// plugin has to do so in any case. An error of the database's stays as it is, since it may have
// ended the transaction.
func refused(err error, explain func() error) error {
	if !errors.Is(err, gormplugin.ErrUnsupported) && !errors.Is(err, pathlock.ErrNotFound) {
		return err
	}
	if why := explain(); why != nil {
		return why
	}
	return err
}

// slotTaken is nameTaken for a node that keeps its name.
func slotTaken(err error) error {
	if taken, ok := errors.AsType[*gormplugin.NameTakenError](err); ok {
		return nameTaken(err, taken.Path.Base())
	}
	return err
}

// tooDeep names the argument by which a tree would have become too deep.
func tooDeep(field string, err error) error {
	if deep, ok := errors.AsType[*gormplugin.TooDeepError](err); ok {
		return TooDeep(field, deep.Depth)
	}
	return err
}

// TooDeep is the error of a change by which something would lie too many suites deep.
func TooDeep(field string, depth int) error {
	return &InvalidError{field, fmt.Sprintf("is too deep: something would lie %d suites deep, at most %d are allowed", depth, model.MaxDepth)}
}

// nameTaken says which name it was that a unique index refused.
func nameTaken(err error, name string) error {
	if errors.Is(err, gorm.ErrDuplicatedKey) || errors.Is(err, ErrNameTaken) {
		return &NameTakenError{name}
	}
	return err
}
