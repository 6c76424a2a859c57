package idempotency

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// defaultTable is that of [Config.Table].
const defaultTable = "pathlock_idempotency"

//go:embed sql
var files embed.FS

// tableName is what [Config.Table] can be: it needs no quotes in any dialect.
var tableName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,50}(\.[a-z_][a-z0-9_]{0,50})?$`)

// statements are the SQL for one database and table.
type statements struct {
	create, check, read, insert, lockRow, takeover, mark, record, finish, settle, release, purge string
}

// newStatements reads the files of a database.
func newStatements(d *dialect.Dialect, table string) (s statements, err error) {
	if !tableName.MatchString(table) {
		return s, fmt.Errorf("idempotency: the table's name %q must consist of lower-case letters, digits and underscores", table)
	}
	_, base, found := strings.Cut(table, ".")
	if !found {
		base = table
	}
	if found && d == dialect.SQLite {
		return s, fmt.Errorf("idempotency: the table's name %q has a schema, which SQLite does not know", table)
	}
	own := string(d.Name)
	fill := strings.NewReplacer("${table}", table, "${index}", base+"_expiry", "${now}", d.Millis)
	for name, to := range map[string]*string{
		own + "/create": &s.create, own + "/insert": &s.insert, own + "/purge": &s.purge,
		own + "/lockrow": &s.lockRow, "check": &s.check, "read": &s.read, "takeover": &s.takeover, "mark": &s.mark, "record": &s.record, "finish": &s.finish,
		"settle": &s.settle, "release": &s.release,
	} {
		text, err := files.ReadFile("sql/" + name + ".sql")
		if err != nil {
			return s, fmt.Errorf("idempotency: %w", err)
		}
		*to = fill.Replace(withoutComment(string(text)))
	}
	// dbresolver sends what begins with SELECT to a replica, which may not have the row yet.
	s.read = "/* of the primary */ " + s.read
	return s, nil
}

// withoutComment drops the lines of comment that a file begins with, which are for its readers.
func withoutComment(text string) string {
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.TrimSpace(text)
}

// purgeBatch is how many rows are deleted by one statement.
const purgeBatch = 500

// Schema returns the SQL that makes the table of keys, for migrations of your own: several
// statements, each of which ends with a semicolon at the end of a line. The database is "mysql",
// which stands for MariaDB, too, "postgres" or "sqlite".
func Schema(database, table string) (string, error) {
	d, err := dialect.Of(dialect.Name(database))
	if err != nil {
		return "", fmt.Errorf("idempotency: %w", err)
	}
	s, err := newStatements(d, table)
	return s.create + "\n", err
}

// Migrate makes the table of keys if it is missing. Several instances may call it at once.
func (k *Keys) Migrate(ctx context.Context) error {
	// PostgreSQL refuses one of two that create a table at the same instant.
	_, err := backoff.Retry(ctx, func() (done struct{}, err error) {
		for statement := range strings.SplitSeq(strings.TrimSuffix(k.sql.create, ";"), ";\n") {
			if err = k.session(ctx).Exec(statement).Error; err != nil {
				break
			}
		}
		return done, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(maxPause)), backoff.WithMaxTries(tries))
	if err != nil {
		return fmt.Errorf("idempotency: creating the table %s: %w", k.config.Table, err)
	}
	return nil
}

// Check returns an error if the table of keys is not as [Keys.Migrate] makes it.
func (k *Keys) Check(ctx context.Context) error {
	if err := k.session(ctx).Exec(k.sql.check).Error; err != nil {
		return fmt.Errorf("idempotency: the table %s (Migrate makes it): %w", k.config.Table, err)
	}
	return nil
}

// Purge deletes the rows of keys whose time is over, 500 by one statement, and returns how many.
// Run it now and then, on any number of instances: what is over counts for nothing even before
// that.
func (k *Keys) Purge(ctx context.Context) (rows int64, err error) {
	for {
		deleted, err := k.exec(ctx, k.sql.purge, purgeBatch)
		rows += deleted
		if err != nil {
			return rows, fmt.Errorf("idempotency: deleting old keys: %w", err)
		}
		if deleted < purgeBatch {
			return rows, nil
		}
	}
}

// The states of a key's row.
const (
	// A state of 0 is a claim: a request runs, and has committed nothing.
	_ = iota
	// committed: something has taken effect, and the answer is not recorded.
	committed
	// answered: the answer is recorded.
	answered
)

// row is what is read about a key. Its primary key is the [hash] of the scope and the key, neither
// of which is stored. The table also has when the lease and the row end: see sql/mysql/create.sql.
type row struct {
	// Fingerprint is the hash of what the key was used for, and Attempt names the latest claim.
	Fingerprint string
	Attempt     string
	State       int
	Status      int
	Headers     string
	Body        []byte
	// Lapsed is not 0 once the lease has ended, and Expired once the row counts for nothing.
	Lapsed, Expired int
}

// hash returns a hash of several texts, each with its length: no two lists have the same bytes.
func hash(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(text)))
		_, _ = io.WriteString(h, text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// failureOf returns what an error means, even if no plugin is registered with the DB.
func (k *Keys) failureOf(err error) pathlock.Failure {
	if failure := pathlock.FailureOf(err); failure != "" || err == nil {
		return failure
	}
	return k.dialect.FailureOf(err)
}

// session returns a session that runs SQL, past the callbacks of the caller's own statement.
func (k *Keys) session(ctx context.Context) *gorm.DB {
	return k.db.Session(&gorm.Session{NewDB: true, Context: ctx})
}

// How often a statement that the database aborts is tried, and the longest pause.
const (
	tries    = 10
	maxPause = 50 * time.Millisecond
)

// persist runs a statement, and runs it again while the database aborts it in favour of others.
func (k *Keys) persist(ctx context.Context, statement func() error) error {
	pauses := &backoff.ExponentialBackOff{InitialInterval: maxPause / 2, MaxInterval: maxPause / 2, Multiplier: 1, RandomizationFactor: 1}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := statement()
		if err != nil && k.failureOf(err) != pathlock.FailureLocked {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
	return err
}

// exec runs a statement by itself, and returns how many rows it has hit.
func (k *Keys) exec(ctx context.Context, sql string, values ...any) (rows int64, err error) {
	err = k.persist(ctx, func() error {
		done := k.session(ctx).Exec(sql, values...)
		rows = done.RowsAffected
		return done.Error
	})
	return rows, err
}

// read returns the row of a key, nil if there is none.
func (k *Keys) read(ctx context.Context, id string) (*row, error) {
	var rows []row
	err := k.persist(ctx, func() error { return k.session(ctx).Raw(k.sql.read, id).Scan(&rows).Error })
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
