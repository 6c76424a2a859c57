package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/adopt"
	"github.com/pathlock-go/pathlock/internal/shown"
)

type adoptCommand struct {
	DB string `help:"Database to read: sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name. Set the environment variable: other users can see the command line." required:"" env:"PATHLOCK_DB" placeholder:"URL"`
	adopt.Options
	Timeout time.Duration `help:"How long it may take (default: 5m)." default:"5m" placeholder:"DURATION"`
	JSON    bool          `help:"Write one JSON object."`
}

// Help is the detailed help of the command.
func (*adoptCommand) Help() string {
	return `It reads the tables in read-only transactions, and changes nothing. For each table whose rows form a tree, it shows:

  - the columns: key, tree, parent, name, path and its form, deletion mark, and other tables' rows with these paths
  - how many rows agree with that, and three that do not. Two shapes that fit equally are both shown
  - the tags and options of the GORM plugin, and the flags of pathlock fsck
  - the statements that the schema needs, what they lock, and their way back
  - what fsck finds today, what old code does that will be refused, and the steps of the roll-out

It names trees of other kinds, such as nested sets, with the reason why they are not supported.
It reads up to a million rows of a table, those with the smallest keys, and says so if there are more.

Examples:

    export PATHLOCK_DB='mysql://user:pass@tcp(127.0.0.1:3306)/admin'
    pathlock adopt
    pathlock adopt --table sys_dept
    pathlock adopt --table files --tree-column storage_id --name title --deleted state --deleted-when gone

Exit codes:

    0    it has found a tree, or a tree of another kind, or looked at all tables
    8    the database did not answer, or the table holds no tree
    16   the command line is invalid
    130  interrupted`
}

// Run implements the command.
func (c *adoptCommand) Run(outer context.Context, out *output) (err error) {
	if err := (flaws{
		{c.Table == "" && (c.Name+c.Alias != "" || c.Tree != nil || c.Deleted != nil), "--tree-column, --name, --deleted and --alias need --table"},
		{len(c.Tree) > 2, "--tree-column takes two columns at most"},
		{c.DeletedWhen != "" && (c.Deleted == nil || *c.Deleted == ""), "--deleted-when needs --deleted"},
		{c.Timeout <= 0, "--timeout must be positive"},
	}).refuse(); err != nil {
		return err
	}
	db, dialect, err := connectDB(outer, c.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx, cancel := context.WithTimeoutCause(outer, c.Timeout, fmt.Errorf("not done within %v: give --table, or a longer --timeout", c.Timeout))
	defer cancel()
	c.Progress = progressOn(out.errs)
	report, err := adopt.Run(ctx, db, dialect, c.Options)
	if ctx.Err() != nil && outer.Err() == nil {
		return errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		return err
	}
	out.say(c.JSON, report, strings.TrimSuffix(report.Text(), "\n"))
	return nil
}

// progressOn returns what shows progress on a terminal, nil for anything else.
func progressOn(errs io.Writer) func(table string, rows int) {
	if !shown.OnTerminal(errs) {
		return nil
	}
	return func(table string, rows int) {
		_, _ = fmt.Fprintf(errs, "\r\x1b[K%s: %s read", printable(table), shown.Count(rows, "row", "rows"))
		if rows == 0 {
			_, _ = fmt.Fprint(errs, "\r\x1b[K")
		}
	}
}
