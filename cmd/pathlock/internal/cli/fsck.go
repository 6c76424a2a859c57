package cli

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/database"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

type fsckCommand struct {
	DB string `help:"Database: sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name." required:"" env:"PATHLOCK_DB" placeholder:"URL"`

	Table       string  `help:"Table that holds the trees." required:"" placeholder:"NAME"`
	Key         string  `help:"Column of the primary key." default:"id"`
	TreeColumn  string  `help:"Column of the tree's id." default:"plan_id"`
	Parent      string  `help:"Column of the parent's key." default:"parent_id"`
	Name        string  `help:"Column of the name." default:"name"`
	Path        string  `help:"Column of the path; empty if there are id paths only." default:"path"`
	IDPath      string  `help:"Column of the id path, if there is one." name:"id-path" placeholder:"NAME"`
	Deleted     *string `help:"Column that is neither NULL nor 0 nor false nor empty in deleted rows; empty if there is none (default: deleted_at, where the table has it)." placeholder:"NAME"`
	DeletedFlag *string `help:"Another name for --deleted." placeholder:"NAME"`
	Version     string  `help:"Column that counts the changes of a row, if there is one." name:"version-column" placeholder:"NAME"`

	Tree   *string `help:"Check this tree only. The id of one whose column holds bytes is given in hexadecimal." placeholder:"ID"`
	Repair bool    `help:"Say what a repair would change; with --apply, repair."`
	Apply  bool    `help:"Make the changes. Without it, nothing is written." aliases:"yes"`

	Locks     string         `help:"Lock store that the trees' gates are taken in, with --apply: redis://host:6379/0, redis+cluster://h1,h2,h3, redis+sentinel://master@h1,h2; or off, to repair without." env:"PATHLOCK_LOCKS" placeholder:"URL"`
	Namespace string         `help:"Namespace of the trees' locks; the table's name by default, as in the GORM plugin." placeholder:"NAME"`
	Wait      *time.Duration `help:"How long to wait for a tree's gate, and for a row that somebody else has locked (default: 1m). A tree that is busy for longer is left as it is." placeholder:"DURATION"`
	Batch     *int           `help:"Rows that a transaction changes at most (default: 500)." placeholder:"N"`
	LostFound *string        `help:"Name of the row, at the top of each tree, that gets what has no place (default: lost+found)." placeholder:"NAME"`
	ToTop     bool           `help:"Put what has no place at the top of its tree instead."`
	Log       string         `help:"File that gets each change before it is committed, as a line of JSON. It is appended to." type:"path" placeholder:"FILE"`
	JSON      bool           `help:"Write one JSON object per line."`
	Quiet     bool           `help:"Write neither problems nor changes, only the summary." short:"q"`

	// unmarked is set where the table has no [defaultMark].
	unmarked bool
}

// Help is the rest of what --help says.
func (*fsckCommand) Help() string {
	return `Reads every live row of the table, in one state of the database and with memory that does not grow with it, and reports orphans, cycles,
wrong paths, rows at the top beside a root row, rows in no tree, siblings of one name, names that only the collation holds equal, and names that
no path can have.

With --repair it says what would be changed; with --repair --apply it makes the changes, each transaction under the gate of its tree. It can be
interrupted at any moment and run again. What cannot be mended, such as a row that the database refuses to change or a tree that
somebody else keeps busy, is skipped and reported, and the repair goes on with the rest.

Exit codes, as of fsck(8):
  0    the table is sound
  1    there were problems, and all have been mended
  4    problems are left: nothing was to be changed, or some rows or trees were skipped
  8    the check or the repair failed; or the table, or the tree that was asked for, has no live row
  16   the command line makes no sense
  130  interrupted

With --json there is one object per line: {"type":"problem",…} for each problem, {"type":"change",…} for each change (or, without --apply, for each
that would be made), {"type":"skipped",…} for each row or tree that could not be mended, {"type":"left",…} for each problem that a repair leaves,
and {"type":"summary",…} at the end. A text that is not UTF-8 is {"base64":"…"}.`
}

// errUsage: flags that contradict each other.
var errUsage = errors.New("usage")

// validate finds contradictions.
func (c *fsckCommand) validate() error {
	if err := c.validateColumns(); err != nil {
		return err
	}
	for flag, given := range map[string]bool{
		"--wait": c.Wait != nil, "--batch": c.Batch != nil, "--lost-found": c.LostFound != nil, "--to-top": c.ToTop,
	} {
		if given && !c.Repair {
			return fmt.Errorf("%w: %s without --repair: a check changes nothing", errUsage, flag)
		}
	}
	switch {
	case c.Apply && !c.Repair:
		return fmt.Errorf("%w: --apply without --repair", errUsage)
	case c.Apply && c.Locks == "":
		return fmt.Errorf("%w: --apply needs --locks with the lock store that the table's writers use, or --locks off if nobody writes", errUsage)
	case c.ToTop && c.LostFound != nil:
		return fmt.Errorf("%w: --to-top and --lost-found are two places for what has none", errUsage)
	case !c.validLostFound():
		return fmt.Errorf("%w: --lost-found %q: no row can have that name", errUsage, *c.LostFound)
	case c.Batch != nil && *c.Batch < 1:
		return fmt.Errorf("%w: --batch has to be positive", errUsage)
	case c.Wait != nil && *c.Wait <= 0:
		return fmt.Errorf("%w: --wait has to be positive", errUsage)
	case c.Log != "" && !c.Apply:
		return fmt.Errorf("%w: --log without --apply: a dry run changes nothing", errUsage)
	case c.Tree != nil && *c.Tree == "":
		return fmt.Errorf("%w: --tree is empty; without it, all trees are checked", errUsage)
	default:
		return nil
	}
}

// validateColumns finds contradictions between the columns, and names that are missing.
func (c *fsckCommand) validateColumns() error {
	for _, named := range [][2]string{
		{"--table", c.Table}, {"--key", c.Key}, {"--tree-column", c.TreeColumn}, {"--parent", c.Parent}, {"--name", c.Name},
	} {
		if named[1] == "" {
			return fmt.Errorf("%w: %s is empty", errUsage, named[0])
		}
	}
	if _, err := pathlock.NewTree(cmp.Or(c.Namespace, c.Table), "any"); err != nil {
		return fmt.Errorf("%w: --namespace: %w", errUsage, err)
	}
	if c.Deleted != nil && c.DeletedFlag != nil && *c.Deleted != "" && *c.DeletedFlag != "" {
		return fmt.Errorf("%w: --deleted and --deleted-flag: a row is marked as deleted by one column", errUsage)
	}
	if c.Path == "" && c.IDPath == "" {
		return fmt.Errorf("%w: neither --path nor --id-path names a column", errUsage)
	}
	flags := make(map[string]string)
	for _, column := range [][2]string{
		{"--key", c.Key}, {"--tree-column", c.TreeColumn}, {"--parent", c.Parent}, {"--name", c.Name}, {"--path", c.Path},
		{"--id-path", c.IDPath}, {"--deleted", c.mark()}, {"--version-column", c.Version},
	} {
		flag, name := column[0], column[1]
		if other := flags[name]; name != "" && other != "" {
			return fmt.Errorf("%w: %s and %s are both the column %q", errUsage, other, flag, name)
		}
		flags[name] = flag
	}
	return nil
}

// defaultMark marks rows as deleted where nothing else is said, and the table has it.
const defaultMark = "deleted_at"

// saysMark reports whether the command line says what marks a row as deleted, or that nothing does.
func (c *fsckCommand) saysMark() bool { return c.Deleted != nil || c.DeletedFlag != nil }

// mark is the column that marks a row as deleted, if there is one.
func (c *fsckCommand) mark() string {
	if !c.saysMark() && !c.unmarked {
		return defaultMark
	}
	return cmp.Or(value(c.DeletedFlag), value(c.Deleted))
}

func (c *fsckCommand) validLostFound() bool {
	if c.LostFound == nil {
		return true
	}
	_, err := pathlock.Root().Child(*c.LostFound)
	return err == nil
}

// Run implements the command.
func (c *fsckCommand) Run(ctx context.Context, streams streams, code *int) (err error) {
	defer func() {
		switch {
		case errors.Is(err, errUsage), errors.Is(err, database.ErrURL):
			*code = exitUsage
		case err != nil && ctx.Err() != nil:
			*code = exitInterrupted
			err = fmt.Errorf("interrupted: %w", err)
		case err != nil:
			*code = exitFailure
		}
	}()
	if err := c.validate(); err != nil {
		return err
	}
	db, dialect, err := database.Open(c.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	report := newReport(streams, c.JSON, c.Quiet)
	defer func() { err = errors.Join(err, report.flush()) }()
	checker, err := c.checker(ctx, db, dialect, report)
	if err != nil {
		return err
	}
	if !c.Repair {
		*code, err = c.check(ctx, checker, report)
		return err
	}
	*code, err = c.repair(ctx, checker, report)
	return err
}

// checker returns a checker of the table. One that has no column of the default name for it has no
// deleted rows; a column that the command line names has to be there.
func (c *fsckCommand) checker(ctx context.Context, db *sql.DB, dialect fsck.Dialect, report *report) (*fsck.Checker, error) {
	open := func() (*fsck.Checker, error) {
		return fsck.New(ctx, db, dialect, fsck.Table{
			Table: c.Table, Key: c.Key, Tree: c.TreeColumn, Parent: c.Parent, Name: c.Name, Path: c.Path, IDPath: c.IDPath,
			Deleted: c.mark(), Version: c.Version, Namespace: c.Namespace,
		})
	}
	checker, err := open()
	if !errors.Is(err, fsck.ErrNoColumn) || c.saysMark() {
		return checker, err
	}
	c.unmarked = true
	checker, err = open()
	if err == nil {
		report.warn(fmt.Sprintf("%q has no column %q: every row counts as live; if another column marks deleted rows, name it by --deleted", c.Table, defaultMark))
	}
	return checker, err
}

func (c *fsckCommand) tree() fsck.Key {
	if c.Tree == nil {
		return fsck.Key{}
	}
	return fsck.TextKey(*c.Tree)
}

func (c *fsckCommand) check(ctx context.Context, checker *fsck.Checker, report *report) (int, error) {
	summary, err := checker.Check(ctx, fsck.Options{Tree: c.tree(), Progress: func(done, total int64) { report.progress("check", done, total) }}, report.problem)
	if err != nil {
		return exitFailure, err
	}
	code := exitClean
	if summary.Total() > 0 {
		code = exitLeft
	}
	return code, errors.Join(report.checked(summary), c.nothing(summary))
}

// nothing is the error where no row was looked at: by a slip of the pen, more often than not.
func (c *fsckCommand) nothing(s fsck.Summary) error {
	deleted := ""
	if mark := c.mark(); mark != "" {
		deleted = fmt.Sprintf(" (rows are deleted by %q)", mark)
	}
	switch {
	case s.Rows > 0:
		return nil
	case c.Tree != nil:
		return fmt.Errorf("no live row of %q has %q as its %q%s", c.Table, *c.Tree, c.TreeColumn, deleted)
	default:
		return fmt.Errorf("%q has no live row%s", c.Table, deleted)
	}
}

func (c *fsckCommand) repair(ctx context.Context, checker *fsck.Checker, report *report) (code int, err error) {
	opts := fsck.RepairOptions{
		Tree: c.tree(), Apply: c.Apply, Wait: value(c.Wait), BatchRows: value(c.Batch), LostFound: value(c.LostFound), ToTop: c.ToTop,
		Report: report.problem, Changed: report.change, Left: report.left, Skipped: report.skipped, Progress: report.progress,
	}
	if c.Apply {
		closeLocks, err := c.openLocks(&opts, report)
		if err != nil {
			return exitFailure, err
		}
		defer func() { err = errors.Join(err, closeLocks()) }()
		log, err := c.openLog()
		if err != nil {
			return exitFailure, err
		}
		if log != nil {
			opts.Log = log
			defer func() { err = errors.Join(err, log.Close()) }()
		}
	}
	summary, err := checker.Repair(ctx, opts)
	if err != nil {
		return exitFailure, errors.Join(err, report.repaired(summary, c.Apply, false))
	}
	switch {
	case summary.Before.Total() == 0:
		code = exitClean
	case !c.Apply || summary.After.Total() > 0:
		code = exitLeft
	default:
		code = exitMended
	}
	return code, errors.Join(report.repaired(summary, c.Apply, true), c.nothing(summary.Before))
}

// value returns what a flag was given, or the zero value for the default.
func value[T any](flag *T) (given T) {
	if flag != nil {
		given = *flag
	}
	return given
}

// openLocks opens the lock store, if there is to be one.
func (c *fsckCommand) openLocks(opts *fsck.RepairOptions, report *report) (func() error, error) {
	if c.Locks == "off" || c.Locks == "off://" {
		report.warn("repairing without locks: row locks alone keep out who writes meanwhile")
		return func() error { return nil }, nil
	}
	store, err := redisstore.Open(c.Locks)
	if err != nil {
		return nil, fmt.Errorf("%w: --locks: %w", errUsage, err)
	}
	opts.Locker = pathlock.New(store)
	return func() error { return store.Close(context.Background()) }, nil
}

// openLog opens the log, if there is to be one.
func (c *fsckCommand) openLog() (*os.File, error) {
	if c.Log == "" {
		return nil, nil
	}
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return log, nil
}

// line writes an object as a line of JSON.
func line(out io.Writer, object any) error {
	text, err := json.Marshal(object)
	if err == nil {
		_, err = io.WriteString(out, escaped(string(text))+"\n")
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
