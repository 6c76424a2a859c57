package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// ErrTables says that the tables are not as they have to be. The message names every fault.
var ErrTables = errors.New("sqlstore: the tables are not as they have to be")

// column is a column of one of the tables.
type column struct {
	table, name string
	// kind is the type as the database calls it, and size how many bytes it has room for, 0 if that
	// does not matter.
	kind     string
	size     int64
	nullable bool
	// key is the column's place in the primary key, 0 if it is not part of it.
	key int
}

// String describes the column as it has to be.
func (c column) String() string {
	s := c.kind
	if c.size > 0 {
		s += fmt.Sprintf("(%d)", c.size)
	}
	if c.nullable {
		s += " NULL"
	} else {
		s += " NOT NULL"
	}
	if c.key > 0 {
		s += fmt.Sprintf(", column %d of the primary key", c.key)
	}
	return s
}

// Create creates the tables where they are missing. Any number of processes may do so at once. It
// changes nothing of tables that are there: see [Store.Check]. If tables go away that a store has
// used, it creates them again by itself.
//
// The error matches [pathlock.ErrUnavailable]. The user needs CREATE.
func (s *Store) Create(ctx context.Context) error { return s.backend.inTime(ctx, s.backend.create) }

// inTime does something within the store's time-out.
func (b *backend) inTime(ctx context.Context, do func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	err := do(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		// The time is the store's: no context of the caller has ended.
		return fmt.Errorf("%w: no answer in time: %v", pathlock.ErrUnavailable, err) //nolint:errorlint // see above
	}
	return err
}

func (b *backend) create(ctx context.Context) error {
	if err := b.engine.create(ctx); err != nil {
		return b.failed(ctx, "creating the tables", err)
	}
	b.seen.Store(true)
	return nil
}

// prepare checks the tables before the first operation, and creates them where they are missing, if
// the store is to. After an error, the next operation tries again.
func (b *backend) prepare(ctx context.Context) error {
	if b.checked.Load() {
		return nil
	}
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return b.failed(ctx, "checking the tables", ctx.Err())
	}
	if b.checked.Load() {
		return nil
	}
	err := b.check(ctx)
	if errors.Is(err, ErrTables) {
		if err = b.create(ctx); err == nil {
			err = b.check(ctx)
		}
	}
	if errors.Is(err, ErrTables) {
		return fmt.Errorf("%w: %w", pathlock.ErrUnavailable, err)
	}
	b.checked.Store(err == nil)
	return err
}

// Check reports what is wrong with the tables, or with the rights to use them. It writes into them
// and undoes that.
//
// The error matches [ErrTables] if a table, a column or a primary key is missing or is another one,
// and [pathlock.ErrUnavailable] if the database cannot be asked, or refuses to write.
func (s *Store) Check(ctx context.Context) error { return s.backend.inTime(ctx, s.backend.check) }

func (b *backend) check(ctx context.Context) error {
	there, err := b.engine.columns(ctx)
	if err != nil {
		return b.failed(ctx, "checking the tables", err)
	}
	if faults := compare(b.engine.expected(), there); len(faults) > 0 {
		return fmt.Errorf("%w: %s: create them by Store.Create", ErrTables, strings.Join(faults, "; "))
	}
	if err := b.rehearse(ctx); err != nil {
		return b.failed(ctx, "writing into the tables", err)
	}
	return nil
}

// rehearse writes and deletes as updates do, in a tree that nobody has.
func (b *backend) rehearse(ctx context.Context) error {
	name := rehearsal + newHome()
	tree, err := pathlock.NewTree(name, name)
	if err != nil {
		return err
	}
	id := identity{keyOf(tree), name, name}
	l, err := b.engine.lock(ctx, id)
	if err != nil {
		return err
	}
	defer l.close()
	img, err := l.read(ctx, &known{})
	if err != nil {
		return err
	}
	text := []byte("{}")
	now := micros(time.Now())
	return l.rehearse(ctx,
		&change{tree: tree, key: id.key, exists: img.exists, from: img.version, version: img.version + 1, now: now,
			put: []ticketRow{{place: 1, state: waiting, home: b.home, ends: now, text: text}}},
		&change{tree: tree, key: id.key, exists: true, from: img.version + 1, version: img.version + 2, now: now, gone: []int64{1}})
}

// rehearsal begins the names of trees that exist within a check only.
const rehearsal = "check "

// compare returns what is wrong with columns.
func compare(expected, there []column) (faults []string) {
	tables := make(map[string]bool)
	columns := make(map[string]column)
	for _, c := range there {
		tables[c.table] = true
		columns[c.table+"."+c.name] = c
	}
	missing := make(map[string]bool)
	for _, want := range expected {
		got, ok := columns[want.table+"."+want.name]
		switch {
		case !tables[want.table]:
			if !missing[want.table] {
				missing[want.table] = true
				faults = append(faults, fmt.Sprintf("there is no table %s", want.table))
			}
		case !ok:
			faults = append(faults, fmt.Sprintf("the table %s has no column %s", want.table, want.name))
		default:
			if want.size == 0 {
				got.size = 0
			}
			if got != want {
				faults = append(faults, fmt.Sprintf("%s.%s is %s, and has to be %s", want.table, want.name, got, want))
			}
		}
	}
	return faults
}
