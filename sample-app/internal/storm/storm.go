// Package storm shows what concurrent changes do to a tree. It runs several instances of the
// backend on one database and one lock store, drives them with renames, inserts, moves, copies and
// deletes that are likely to collide, and then has package fsck check every row. It does so three
// times: without any protection, with the assertion in the database alone, and with locks as well.
package storm

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Config describes a storm. Its tags are the flags of the command line, which say what the fields
// mean. The seed makes the clients' choices repeatable, but not the order in which they meet.
type Config struct {
	DB            string        `help:"Database server or SQLite path. Each row gets a new database beside it, so the user needs the right to create one. The default is a temporary file. For a password, set the environment variable: other users can see the command line." default:"sqlite://" env:"PATHLOCK_DB" placeholder:"URL"`
	LocksPassword string        `help:"Password of the lock store, not encoded, if its URL has none. Set the environment variable: other users can see the command line." env:"PATHLOCK_LOCKS_PASSWORD" placeholder:"PASSWORD"`
	Locks         string        `help:"Lock store: ${stores}. The default is the SQL lock store, in the database of each row." env:"PATHLOCK_LOCKS" placeholder:"URL"`
	Instances     int           `help:"Number of instances." default:"3"`
	Clients       int           `help:"Number of clients of each instance." default:"8"`
	Duration      time.Duration `help:"How long each of the three rows takes." default:"3s"`
	Seed          uint64        `help:"Seed of the clients' choices. 0 means a random one." default:"0"`

	// Serve returns the command that runs an instance with these arguments.
	Serve func(ctx context.Context, args ...string) *exec.Cmd `kong:"-"`
	// Out gets the report.
	Out io.Writer `kong:"-"`
}

// protection is the protection under which a row of the report runs.
type protection struct {
	what   string
	locks  bool
	assert bool
}

var protections = []protection{
	{"locks and assertion off", false, false},
	{"assertion alone", false, true},
	{"locks and assertion", true, true},
}

// isNone reports whether nothing protects the tree.
func (p protection) isNone() bool { return !p.locks && !p.assert }

// ErrBroken says that a protected tree was corrupted, or that requests failed on it.
var ErrBroken = errors.New("storm: the protection did not hold")

// Run makes the storm and writes the report. The error matches [ErrBroken] if a protected tree was
// corrupted or requests failed on it.
func Run(ctx context.Context, config Config) error {
	_, _ = fmt.Fprintf(config.Out, "storm: %d instances (processes of their own) with %d clients each, %s for each row, seed %d\n",
		config.Instances, config.Clients, config.Duration, config.Seed)
	var rows []row
	var broken []string
	for _, p := range protections {
		row, err := run(ctx, config, p)
		if err != nil {
			return fmt.Errorf("storm: %s: %w", p.what, err)
		}
		_, _ = fmt.Fprintf(config.Out, "  %s: done\n", row.what)
		rows = append(rows, row)
		if !row.holds() {
			broken = append(broken, row.what)
		}
	}
	report(config.Out, rows)
	if len(broken) > 0 {
		return fmt.Errorf("%w: %s", ErrBroken, strings.Join(broken, ", "))
	}
	return nil
}

// run makes one row on a database of its own.
func run(ctx context.Context, config Config, p protection) (row row, err error) {
	url, remove, err := plans.Scratch(ctx, config.DB)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	// Others may use the lock store and have a plan with the same id.
	namespace := "storm-" + rand.Text()[:8]
	instances, err := start(ctx, config, p, url, namespace)
	if err != nil {
		return row, err
	}
	result, err := drive(ctx, config, instances.addrs)
	if err = errors.Join(err, instances.stop()); err != nil {
		return row, err
	}
	problems, rows, err := verify(ctx, url)
	if err != nil {
		return row, err
	}
	row = newRow(p, result, rows, problems)
	if p.locks {
		row.left, err = left(ctx, config, url, namespace)
	}
	return row, err
}

// left returns in how many trees of a row somebody holds or waits after all instances have ended.
func left(ctx context.Context, config Config, db, namespace string) (trees int, err error) {
	store, err := anystore.Open(ctx, cmp.Or(config.Locks, db), append(instance.Stores, anystore.WithPassword(config.LocksPassword))...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	all, err := store.Trees(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for locks that are left: %w", err)
	}
	for _, tree := range all {
		if tree.Namespace() == namespace {
			trees++
		}
	}
	return trees, nil
}

// verify has package fsck compare every row with its parent and its siblings, past all the code
// that wrote them.
func verify(ctx context.Context, url string) (problems []fsck.Problem, checked int64, err error) {
	db, err := plans.OpenDB(url, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	checker, err := fsck.New(ctx, db.Pool(), db.Dialect, fsck.DefaultTable("suites"))
	if err != nil {
		return nil, 0, err
	}
	summary, err := checker.Check(ctx, fsck.Options{}, func(p fsck.Problem) error {
		problems = append(problems, p)
		return nil
	})
	return problems, summary.Rows, err
}
