package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mysqlEngine is the engine for MySQL and MariaDB. An update is two texts: one statement reads, and
// one transaction writes if nobody was faster. The server runs all of its statements by itself,
// where a connection takes several in one text. Otherwise each is a round trip.
type mysqlEngine struct {
	db *sql.DB
	prefix

	mu    sync.Mutex
	asked bool
	// several says that a connection takes several statements in one text.
	several bool
	// commits says that statements outside of transactions commit by themselves.
	commits bool
	// plain says that such statements see what is committed, and all of it.
	plain bool
}

// Numbers of errors. See https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html.
const (
	mysqlSyntax     = 1064 // ER_PARSE_ERROR
	mysqlOutOfRange = 1690 // ER_DATA_OUT_OF_RANGE, which the guard raises
	mysqlDuplicate  = 1062 // ER_DUP_ENTRY
	mysqlNoTable    = 1146 // ER_NO_SUCH_TABLE
)

// maxText is how many bytes are sent at once. Servers take at least 16 times as many by default.
const maxText = 1 << 20

// learn asks once how the pool's connections are set up.
func (m *mysqlEngine) learn(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked {
		return nil
	}
	var name, level string
	if err := m.db.QueryRowContext(ctx, "SELECT @@autocommit").Scan(&m.commits); err != nil {
		return err
	}
	// The first name is MariaDB's, the second one MySQL's.
	err := m.db.QueryRowContext(ctx, "SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')").Scan(&name, &level)
	if err != nil {
		return err
	}
	m.plain = m.commits && level != "READ-UNCOMMITTED"
	_, err = m.db.ExecContext(ctx, "DO 0; DO 0")
	if err != nil && mysqlNumber(err) != mysqlSyntax {
		return err
	}
	m.several, m.asked = err == nil, true
	return nil
}

func (m *mysqlEngine) read(ctx context.Context, key treeKey, k *known) (image, error) {
	began := time.Now()
	r, err := m.query(ctx, "mysql_read", k.version, key[:])
	if err != nil {
		return image{}, err
	}
	return scanImage(r, began, k)
}

// query reads outside of transactions. Where the connection begins one by itself, what it sees
// might be as old as the last use of the connection: that transaction is ended first, and the new
// one afterwards. At READ UNCOMMITTED it might see half of an update: another level is asked for.
func (m *mysqlEngine) query(ctx context.Context, name string, args ...any) (*rows, error) {
	if err := m.learn(ctx); err != nil {
		return nil, err
	}
	text := filled(m.text(name), args...)
	if m.plain {
		r, err := m.db.QueryContext(ctx, text) //nolint:rowserrcheck,sqlclosecheck // The caller does.
		if err != nil {
			return nil, err
		}
		return &rows{Rows: r}, nil
	}
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range []string{"ROLLBACK", readCommitted} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			discard(conn)
			return nil, err
		}
	}
	r, err := conn.QueryContext(ctx, text) //nolint:rowserrcheck,sqlclosecheck // The caller does.
	if err != nil {
		release(conn, "ROLLBACK")
		return nil, err
	}
	return &rows{Rows: r, done: func() error { release(conn, "ROLLBACK"); return nil }}, nil
}

func (m *mysqlEngine) exec(ctx context.Context, name string, args ...any) error {
	if err := m.learn(ctx); err != nil {
		return err
	}
	return m.transact(ctx, []string{filled(m.text(name), args...)})
}

func (m *mysqlEngine) clock(ctx context.Context) (int64, error) {
	r, err := m.query(ctx, "mysql_clock")
	if err != nil {
		return 0, err
	}
	return count(r)
}

func (m *mysqlEngine) swap() func(context.Context, *change) error {
	return func(ctx context.Context, c *change) error {
		if err := m.learn(ctx); err != nil {
			return err
		}
		return m.transact(ctx, m.writes(c))
	}
}

// readCommitted sets the level of the next transaction. At a higher one, those who write would lock
// gaps between rows, and so each other.
const readCommitted = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"

// begin are the statements that begin a transaction which writes, on whichever connection. The
// server ends the session if the process is stopped in the middle.
func (m *mysqlEngine) begin(whole bool) []string {
	statements := []string{readCommitted, "START TRANSACTION READ WRITE"}
	if !m.commits {
		statements = append([]string{"ROLLBACK"}, statements...)
	}
	if !whole {
		seconds := strconv.Itoa(int(idleTransaction.Seconds()))
		statements = append([]string{"SET @pathlock_wait_timeout = @@SESSION.wait_timeout, SESSION wait_timeout = " + seconds}, statements...)
	}
	return statements
}

// end are the statements that end the transaction.
func (m *mysqlEngine) end(how string, whole bool) []string {
	if whole {
		return []string{how}
	}
	return []string{how, "SET SESSION wait_timeout = @pathlock_wait_timeout"}
}

// transact runs statements in a transaction of their own.
func (m *mysqlEngine) transact(ctx context.Context, statements []string) error {
	size := 0
	for _, s := range statements {
		size += len(s)
	}
	whole := m.several && size <= maxText
	all := append(m.begin(whole), statements...)
	all = append(all, m.end("COMMIT", whole)...)
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}
	sent, err := m.run(ctx, conn, all)
	if !sent && errors.Is(err, driver.ErrBadConn) {
		// The connection had ended while nobody used it.
		release(conn)
		if conn, err = m.db.Conn(ctx); err != nil {
			return err
		}
		_, err = m.run(ctx, conn, all)
	}
	if err != nil {
		release(conn, m.end("ROLLBACK", whole)...)
		return faster(err)
	}
	release(conn)
	return nil
}

// run runs statements on a connection, in as few texts as it takes. It reports whether any of them
// has reached the server.
func (m *mysqlEngine) run(ctx context.Context, conn *sql.Conn, statements []string) (sent bool, err error) {
	for len(statements) > 0 {
		n, size := 1, len(statements[0])
		for m.several && n < len(statements) && size+len(statements[n]) < maxText {
			size += len(statements[n]) + 1
			n++
		}
		if _, err := conn.ExecContext(ctx, strings.Join(statements[:n], ";")); err != nil {
			return sent, err
		}
		statements, sent = statements[n:], true
	}
	return sent, nil
}

// faster returns errFaster for what the guard and the first row of a tree raise.
func faster(err error) error {
	switch mysqlNumber(err) {
	case mysqlOutOfRange, mysqlDuplicate:
		return errFaster
	}
	return err
}

// writes are the statements of a change.
func (m *mysqlEngine) writes(c *change) []string {
	var statements []string
	if c.exists {
		statements = append(statements,
			filled(m.text("tree_change"), c.version, c.fence, c.now, c.key[:], c.from),
			m.text("mysql_guard"))
	} else {
		statements = append(statements,
			filled(m.text("tree_put"), c.key[:], []byte(c.tree.Namespace()), []byte(c.tree.ID()), c.version, c.fence, c.now))
	}
	if len(c.gone) > 0 {
		places := make([]string, len(c.gone))
		for i, place := range c.gone {
			places[i] = strconv.FormatInt(place, 10)
		}
		statements = append(statements,
			strings.Replace(filled(m.text("mysql_tickets_delete"), c.key[:]), "{values}", strings.Join(places, ","), 1))
	}
	put := m.text("mysql_tickets_put")
	var values strings.Builder
	flush := func() {
		if values.Len() > 0 {
			statements = append(statements, strings.Replace(put, "{values}", values.String(), 1))
			values.Reset()
		}
	}
	for _, t := range c.put {
		if values.Len()+2*len(t.text) > maxText/2 {
			flush()
		}
		if values.Len() > 0 {
			values.WriteByte(',')
		}
		var home any
		if t.home != "" {
			home = t.home
		}
		values.WriteString(filled("(?,?,?,?,?,?,?,?)", c.key[:], t.place, c.version, t.state, t.looks, home, t.ends, t.text))
	}
	flush()
	return statements
}

// mysqlNumber returns the number of an error that a server of MySQL or MariaDB has answered, 0 for
// any other error.
func mysqlNumber(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

func (m *mysqlEngine) again(err error) bool {
	switch mysqlNumber(err) {
	case 1213, // ER_LOCK_DEADLOCK
		1020, // ER_CHECKREAD: MariaDB's snapshot isolation found a row changed since the last read
		1205, // ER_LOCK_WAIT_TIMEOUT
		1637: // ER_TOO_MANY_CONCURRENT_TRXS
		return true
	}
	return false
}

func (m *mysqlEngine) missing(err error) bool { return mysqlNumber(err) == mysqlNoTable }

func (m *mysqlEngine) close() {}

func (m *mysqlEngine) advice(err error) string {
	switch mysqlNumber(err) {
	case mysqlNoTable, 1054: // ER_BAD_FIELD_ERROR
		return adviceTables
	case 1290, 1836, 1792: // ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
		return "a replica cannot serve: name the primary"
	case 1142: // ER_TABLEACCESS_DENIED_ERROR
		return "the user needs SELECT, INSERT, UPDATE and DELETE on both tables"
	case 1665: // ER_BINLOG_ROW_MODE_AND_STMT_ENGINE
		return "set binlog_format to ROW or MIXED"
	case 1153: // ER_NET_PACKET_TOO_LARGE
		return "raise max_allowed_packet, or lower sqlstore.WithMaxRequest"
	}
	return ""
}
