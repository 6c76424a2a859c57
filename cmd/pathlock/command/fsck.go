package command

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

type fsckCommand struct {
	DB string `help:"Database to check: sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name. Set the environment variable: other users can see the command line." required:"" env:"PATHLOCK_DB" placeholder:"URL" group:"What to check:"`

	Table string  `help:"Table that holds the trees: suites or schema.suites." required:"" placeholder:"NAME" group:"What to check:"`
	Tree  *string `help:"Check only the tree with this id. If ids are bytes, give them in hexadecimal (default: all trees)." placeholder:"ID" group:"What to check:"`

	columns
	Leaves []string `help:"Another table whose rows are below these and have paths, with its columns: files?parent=folder_id&path=folder&path-form=parent:/*/*. Columns have the names of the flags (defaults: key=id, name=name). You can give the flag several times." name:"leaves" sep:"none" placeholder:"TABLE?parent=NAME&path=NAME" group:"Columns of the table:"`

	Repair bool `help:"Show what a repair would change. With --apply, repair." group:"Repair:"`
	Apply  bool `help:"Write the changes of --repair to the database. Needs --locks." group:"Repair:"`

	LostFound map[string]string `help:"Value of a lost+found that a repair creates, in another column: 2; {unique} for a text that no other row has; {row} for that of the tree's first row. You can give the flag several times (default: the column's default, or its zero value)." name:"lost-found" mapsep:"none" placeholder:"COLUMN=VALUE" group:"Repair:"`

	Moves bool `help:"Repair although most rows would move." name:"allow-moves" group:"Repair:"`

	lockStore
	Namespace string        `help:"Namespace of the trees' locks, as in the programs that write the table (default: the table's name)." placeholder:"NAME" group:"Repair:"`
	Wait      time.Duration `help:"How long to wait for the lock of a tree, or of a row. The repair skips a tree that is busy for longer (default: 1m)." default:"1m" placeholder:"DURATION" group:"Repair:"`
	Log       string        `help:"File to which each change is appended before its commit, as a line of JSON." type:"path" placeholder:"FILE" group:"Repair:"`

	JSON  bool `help:"Write one JSON object per line." group:"Output:"`
	Quiet bool `help:"Write only the summary, neither problems nor changes." short:"q" group:"Output:"`
}

// Help is the detailed help of the command.
func (*fsckCommand) Help() string {
	return `The table holds trees. Each row has the id of its tree, the key of its parent, a name, and a path of all names from the top down to its own, such as /a/b.
A row without a parent is at the top. If its name is empty, it is the root row, which must be the only row at the top.

The check reads every live row into memory, in one state of the database: up to a gigabyte for a million rows. It reports:

  - orphan: the parent is missing, deleted or in another tree
  - cycle: the row is its own ancestor
  - wrong-path, wrong-id-path: the path does not follow from the parent's
  - wrong-depth: the depth is not that of the right path
  - path-too-long, too-deep: the right path does not fit, or has too many names
  - beside-root: the row is at the top beside a root row
  - duplicate: a sibling has the same name
  - lookalike: a sibling has a name that only the collation treats as equal
  - bad-name: no path can contain the name

--repair shows what a repair would change. --repair --apply changes it, in transactions that each hold the lock of a whole tree. You can stop a
repair at any moment and run it again. --locks names the lock store of the programs that write the table; give off if none does. The repair
skips and reports what it cannot repair, such as a row that the database refuses to change or a tree that another program keeps busy, and
repairs the rest.

Examples:

    pathlock fsck --db sqlite://app.db --table suites
    pathlock fsck --db sqlite://app.db --table suites --repair
    pathlock fsck --db sqlite://app.db --table suites --repair --apply --locks redis://127.0.0.1:6379/0 --log changes.jsonl

Exit codes, as of fsck(8):

    0    the table is sound
    1    there were problems, and the repair fixed all of them
    4    problems remain, because there was no repair, or the repair skipped rows or trees
    8    the check or the repair failed, or the tree or a table with rows has no live one
    16   the command line is invalid
    130  interrupted

--json writes one object per line. Its "type" says what it is:

    moves     how many rows would move, first in a dry run
    problem   a problem that the check found
    change    a change that was made or, without --apply, would be
    skipped   a row or a tree that the repair skipped
    left      a problem that remains after the repair
    summary   the numbers, at the end`
}

// Run implements the command.
func (c *fsckCommand) Run(ctx context.Context, out *output, code *int) (err error) {
	if err := c.validate(); err != nil {
		return err
	}
	leaves, err := c.leafTables()
	if err != nil {
		return err
	}
	table, err := c.describe(c.Table, c.Namespace, leaves...)
	if err != nil {
		return err
	}
	db, dialect, err := connectDB(ctx, c.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	report := &report{out, c}
	var tree fsck.Key
	if c.Tree != nil {
		tree = fsck.TextKey(*c.Tree)
	}
	problem := detail(report, "problem", "", fsck.Problem.String)
	checker, err := fsck.New(ctx, db, dialect, table)
	if errors.Is(err, fsck.ErrNoColumn) {
		return fmt.Errorf("%w; name the columns by --key, --deleted and so on, or say that there is none: --single-tree, --name=, --deleted=", err)
	}
	if err != nil {
		return err
	}
	if !c.Repair {
		summary, err := checker.Check(ctx, fsck.Options{Tree: tree}, problem)
		if err != nil {
			return err
		}
		if summary.Total() > 0 {
			*code = exitLeft
		}
		out.say(c.JSON, typed{"summary", summary}, count(summary))
		return c.requireRows(ctx, db, dialect, summary)
	}
	opts := fsck.RepairOptions{
		Tree: tree, Apply: c.Apply, AllowMoves: c.Moves, LostFound: c.LostFound, Wait: c.Wait, Moves: report.moves,
		Report: problem, Changed: detail(report, "change", "", report.change),
		Left: detail(report, "left", "left: ", fsck.Problem.String), Skipped: detail(report, "skipped", "skipped: ", fsck.Skip.String),
	}
	if c.Apply {
		var end func()
		if opts.Locker, end, err = c.openLocks(ctx, out); err != nil {
			return err
		}
		defer end()
		if err := c.checkLockPlace(ctx, opts.Locker, db, dialect, table); err != nil {
			return err
		}
	}
	if c.Log != "" {
		log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("open the log: %w", err)
		}
		defer func() { _ = log.Close() }() // each line has been synced
		opts.Log = log
	}
	before, err := c.repair(ctx, checker, opts, report, code)
	if err != nil {
		return err
	}
	return c.requireRows(ctx, db, dialect, before)
}

// requireRows returns an error if there was no row to check, usually because of a typo in the
// command line. A table without any rows is sound.
func (c *fsckCommand) requireRows(ctx context.Context, db *sql.DB, of fsck.Dialect, s fsck.Summary) error {
	if s.Rows > 0 {
		return nil
	}
	if c.Tree == nil {
		d, err := dialect.Of(of)
		if err != nil {
			return err
		}
		err = db.QueryRowContext(ctx, "SELECT 1 FROM "+d.Quote(c.Table)+" LIMIT 1").Scan(new(int))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", c.Table, err)
		}
	}
	none := fmt.Sprintf("%q has no live row", c.Table)
	if c.Tree != nil {
		none = fmt.Sprintf("no live row of %q has %q as its %q", c.Table, *c.Tree, c.columns.Tree)
	}
	if c.Deleted != "" {
		none += fmt.Sprintf(" (rows are deleted by %q)", c.Deleted)
	}
	return errors.New(none)
}

// checkLockPlace returns an error if the programs on the database are known to lock elsewhere than
// the repair would.
func (c *fsckCommand) checkLockPlace(ctx context.Context, locker *pathlock.Locker, db *sql.DB, dialect fsck.Dialect, table fsck.Table) error {
	if locker == nil {
		return nil
	}
	places, err := doctor.LockPlaces(ctx, db, dialect)
	bare := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	i := slices.IndexFunc(places, func(p doctor.LockPlace) bool { return p.Table == c.Table })
	if i < 0 { // one of the names may be without the schema
		i = slices.IndexFunc(places, func(p doctor.LockPlace) bool { return p.Table == bare(c.Table) || bare(p.Table) == c.Table })
	}
	if err != nil || i < 0 {
		return err
	}
	store, err := locker.StoreID(ctx)
	if err != nil {
		return failed("asking for its id", err)
	}
	there, namespace := places[i], strings.TrimSuffix(cmp.Or(table.Namespace, c.Table)+"/"+table.SingleTree, "/")
	if there.Store != store || there.Namespace != namespace {
		return fmt.Errorf("the programs take the locks of %s in the lock store %s, namespace %s, and --locks and --namespace are %s, %s: give theirs", c.Table, there.Store, there.Namespace, store, namespace)
	}
	return nil
}

func (c *fsckCommand) repair(ctx context.Context, checker *fsck.Checker, opts fsck.RepairOptions, report *report, code *int) (before fsck.Summary, err error) {
	summary, err := checker.Repair(ctx, opts)
	if errors.Is(err, pathlock.ErrUnavailable) {
		err = failed("repairing", err)
	}
	if errors.Is(err, fsck.ErrMoves) {
		return before, fmt.Errorf("%w; --allow-moves repairs all the same", err)
	}
	report.repaired(summary, err == nil)
	if err == nil && summary.Before.Total() > 0 {
		if *code = exitMended; !c.Apply || summary.After.Total() > 0 {
			*code = exitLeft
		}
	}
	return summary.Before, err
}
