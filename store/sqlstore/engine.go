package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// engine is what differs between the databases.
type engine interface {
	// read returns what a tree holds. Tickets that k has are not fetched.
	read(ctx context.Context, key treeKey, k *known) (image, error)
	// swap writes a change in one step that leaves no transaction open while the process does
	// something else. Its error is errFaster if the tree is not what it was. It is nil where the
	// database knows no such step, and lock does.
	swap() func(ctx context.Context, c *change) error
	// lock begins a transaction that is alone with a tree.
	lock(ctx context.Context, id identity) (locked, error)
	// query runs a statement that only reads, whose arguments are numbers, texts and bytes.
	query(ctx context.Context, name string, args ...any) (*rows, error)
	// exec runs a statement by itself.
	exec(ctx context.Context, name string, args ...any) error
	// clock returns the time in µs.
	clock(ctx context.Context) (int64, error)
	// create creates the tables, and columns returns those that there are.
	create(ctx context.Context) error
	columns(ctx context.Context) ([]column, error)
	// expected are the columns as they have to be.
	expected() []column
	// again reports whether an error only means that the whole has to be tried again.
	again(err error) bool
	// missing reports whether an error says that there is no such table.
	missing(err error) bool
	// close gives back what the engine keeps in the pool.
	close()
	// advice says what to do about an error, "" if nothing special.
	advice(err error) string
}

// adviceTables is what to do where tables are missing.
const adviceTables = "no program has made the tables: those with anystore do, others call Store.Create, and both need the right to create tables"

// identity is a tree by all its names.
type identity struct {
	key           treeKey
	namespace, id string
}

// locked is a transaction that is alone with a tree.
type locked interface {
	read(ctx context.Context, k *known) (image, error)
	// write writes a change and commits.
	write(ctx context.Context, c *change) error
	// rehearse writes changes and does not commit.
	rehearse(ctx context.Context, changes ...*change) error
	// close ends the transaction. Unless it was committed, it is undone.
	close()
}

// errFaster says that another process has changed the tree since it was read.
var errFaster = errors.New("another process was faster")

// errStale says that tickets are missing in the cache: all have to be fetched.
var errStale = errors.New("the cache is behind")

// rows are the rows of a statement, and what they keep busy.
type rows struct {
	*sql.Rows
	done func() error
}

// Close ends the statement.
func (r *rows) Close() error {
	err := r.Rows.Close()
	if r.done != nil {
		err = errors.Join(err, r.done())
	}
	return err
}

// scanImage reads the rows of a read statement.
func scanImage(r *rows, began time.Time, k *known) (img image, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	img.began = began
	img.tickets = make(map[int64]*entry, len(k.tickets))
	for r.Next() {
		var now int64
		var version, fence, place, ticketVersion, state sql.NullInt64
		var text []byte
		if err := r.Scan(&now, &version, &fence, &place, &ticketVersion, &state, &text); err != nil {
			return img, err
		}
		img.now, img.exists, img.version, img.fence = now, version.Valid, version.Int64, fence.Int64
		switch old := k.tickets[place.Int64]; {
		case !place.Valid:
		case text != nil:
			img.tickets[place.Int64] = &entry{version: ticketVersion.Int64, state: int(state.Int64), text: text}
		case old == nil || old.version != ticketVersion.Int64:
			return img, errStale
		default:
			img.tickets[place.Int64] = old
		}
	}
	return img, r.Err()
}

// discard ends a connection that nobody may use again.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

// farewell is how long an operation may take, when its own time is over, to leave a connection in
// order.
const farewell = 2 * time.Second

// release undoes what a connection has begun and gives it back to the pool.
func release(conn *sql.Conn, statements ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			discard(conn)
			return
		}
	}
	_ = conn.Close()
}

// count reads the only number that a statement returns.
func count(r *rows) (n int64, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	if !r.Next() {
		return 0, errors.Join(fmt.Errorf("sqlstore: no answer"), r.Err())
	}
	err = r.Scan(&n)
	return n, err
}
