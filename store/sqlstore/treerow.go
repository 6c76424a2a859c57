package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// treeKey identifies a tree in the table instead of its name: all keys have one length, no
// collation compares them, and every index has room for them.
type treeKey [sha256.Size]byte

// keyOf returns the key of a tree. Neither part of its name has a NUL.
func keyOf(tree pathlock.Tree) treeKey {
	return sha256.Sum256([]byte(tree.Namespace() + "\x00" + tree.ID()))
}

// record is the row of a tree as it was read.
type record struct {
	tree pathlock.Tree
	// now is the database's clock in µs.
	now int64
	// exists says that there is a row.
	exists         bool
	version, fence int64
	tickets        ticketstore.List
}

// table runs statements on the table. A statement has question marks for its arguments, {table} for
// the table's name, and {now} for the database's time.
type table struct {
	querier
	database
	name    string
	decoder *ticketstore.Decoder
}

// querier is a pool, a session of it, or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// on returns the table as a session or a transaction has it.
func (t table) on(q querier) table {
	t.querier = q
	return t
}

// text returns a statement as it is sent.
func (t table) text(statement string) string {
	now := t.clock
	if now == "" {
		now = strconv.FormatInt(time.Now().UnixMicro(), 10)
	}
	return t.Bind(strings.NewReplacer("{table}", t.name, "{now}", now).Replace(statement))
}

// changed runs a statement and returns how many rows it has changed.
func (t table) changed(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := t.ExecContext(ctx, t.text(statement), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// read returns what the table has of a tree.
func (t table) read(ctx context.Context, tree pathlock.Tree) (*record, error) {
	r := &record{tree: tree}
	key := keyOf(tree)
	var now, version, fence sql.NullInt64
	var text []byte
	var onlyReads bool
	err := t.QueryRowContext(ctx, t.text(`SELECT {now}, `+t.onlyReads+`, t.version, t.fence, t.tickets
		FROM (SELECT 1 AS one) AS c LEFT JOIN {table} AS t ON t.tree = ?`), key[:]).Scan(&now, &onlyReads, &version, &fence, &text)
	if err != nil {
		return nil, reading(err)
	}
	if onlyReads {
		return nil, errReadOnly
	}
	if !now.Valid {
		return nil, errNoCommit
	}
	r.now, r.exists, r.version, r.fence = now.Int64, version.Valid, version.Int64, fence.Int64
	if r.tickets, err = t.decoder.Decode(text); err != nil {
		return nil, fmt.Errorf("sqlstore: the tickets of %s: %w", tree, err)
	}
	return r, nil
}

// readError is an error of a statement that changes nothing.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// reading marks an error of a statement that changes nothing.
func reading(err error) error {
	if err == nil {
		return nil
	}
	return readError{err}
}

// lostRead reports whether the connection was lost under a statement that changes nothing, which
// can be sent again in any case.
func (t table) lostRead(err error) bool {
	_, reads := errors.AsType[readError](err)
	return reads && t.FailureOf(err) == pathlock.FailureDatabase
}

// errNoCommit is for a pool of MySQL whose statements commit nothing.
var errNoCommit = errors.New("the pool's connections do not commit: give them autocommit=1")

// errReadOnly is for a session that only reads. What it reads may be out of date: it is a
// replica's.
var errReadOnly = errors.New("the server or the session is read-only")

// mostOfOwner is how many requests an owner may have in a tree. Each update of the tree reads and
// writes all of them: with three times as many, it would keep the others waiting for seconds.
const mostOfOwner = 3_000

// state is a record as the lock table wants it.
func (b *backend) state(r *record) ticketstore.State {
	return ticketstore.State{
		Tickets: r.tickets.Tickets, Now: time.UnixMicro(r.now),
		Fence: uint64(max(0, r.fence)), Floor: uint64(max(0, r.now)), Reserved: r.version < 0,
		MostWaiters: b.maxWaiters, MostOfOwner: mostOfOwner,
	}
}

// write writes a tree with its next tickets if it is still as it was read, and reports whether it
// was. It sends messages to other processes.
func (t table) write(ctx context.Context, r *record, next ticketstore.List, fence uint64, messages []message) (bool, error) {
	if fence > math.MaxInt64 {
		return false, fmt.Errorf("%w: sqlstore: the fence %d does not fit into a column", pathlock.ErrInvalidRequest, fence)
	}
	text := append([]byte{}, next.Encode()...) // which is never NULL
	ends := r.now
	for _, ticket := range next.Tickets {
		if ticket.State != ticketstore.Refused {
			ends = max(ends, ticket.Ends().UnixMicro())
		}
	}
	key := keyOf(r.tree)
	// Versions grow with the clock if a tree's row was removed meanwhile.
	version := max(max(r.version, -r.version)+1, r.now)
	if !r.exists {
		n, err := t.changed(ctx, "INSERT INTO {table} (tree, namespace, id, version, fence, ends, tickets) VALUES (?, ?, ?, ?, ?, ?, ?)",
			key[:], []byte(r.tree.Namespace()), []byte(r.tree.ID()), version, int64(fence), ends, text)
		return n == 1, err
	}
	update, args := "UPDATE {table} SET version = ?, fence = ?, ends = ?, tickets = ? WHERE tree = ? AND version = ?",
		[]any{version, int64(fence), ends, text, key[:], r.version}
	if t.notify == "" {
		n, err := t.changed(ctx, update, args...)
		return n == 1, err
	}
	var n, notified int64
	err := t.QueryRowContext(ctx, t.text(strings.Replace(t.notify, "{update}", update, 1)), append(args, join(messages))...).Scan(&n, &notified)
	return n == 1, err
}
