package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// errUsage is matched by the error for an invalid command line.
var errUsage = errors.New("usage")

// columns has the flags that name the columns of a table with trees.
type columns struct {
	Key        string `help:"Column of the primary key (default: id)." default:"id" placeholder:"NAME" group:"Columns of the table:"`
	TreeColumn string `help:"Column of the tree's id (default: plan_id)." default:"plan_id" placeholder:"NAME" group:"Columns of the table:"`
	Parent     string `help:"Column of the parent's key (default: parent_id)." default:"parent_id" placeholder:"NAME" group:"Columns of the table:"`
	Name       string `help:"Column of the row's name (default: name)." default:"name" placeholder:"NAME" group:"Columns of the table:"`
	Path       string `help:"Column of the path, such as /a/b. Give --path= if the table has only paths of ids (default: path)." default:"path" placeholder:"NAME" group:"Columns of the table:"`
	IDPath     string `help:"Column of the path of ids, such as /1/17 (default: none)." name:"id-path" placeholder:"NAME" group:"Columns of the table:"`
	Version    string `help:"Column of a number that grows with each change of a row, those of a repair, too (default: none)." name:"version-column" placeholder:"NAME" group:"Columns of the table:"`
}

// validate returns an error if a name is missing.
func (c columns) validate() error {
	for _, named := range [][2]string{{"--key", c.Key}, {"--tree-column", c.TreeColumn}, {"--parent", c.Parent}, {"--name", c.Name}} {
		if named[1] == "" {
			return fmt.Errorf("%w: %s is empty", errUsage, named[0])
		}
	}
	if c.Path == "" && c.IDPath == "" {
		return fmt.Errorf("%w: neither --path nor --id-path names a column", errUsage)
	}
	return nil
}

// validate returns an error if flags contradict each other, or have an invalid value.
func (c *fsckCommand) validate() error {
	if err := c.validateColumns(); err != nil {
		return err
	}
	_, invalidName := pathlock.Root().Child(value(c.LostFound))
	for _, flag := range []struct {
		given bool
		name  string
	}{{c.Wait != nil, "--wait"}, {c.Batch != nil, "--batch"}, {c.LostFound != nil, "--lost-found"}, {c.ToTop, "--to-top"}} {
		if flag.given && !c.Repair {
			return fmt.Errorf("%w: %s without --repair: a check changes nothing", errUsage, flag.name)
		}
	}
	for _, flaw := range []struct {
		there bool
		says  string
	}{
		{c.Apply && !c.Repair, "--apply without --repair"},
		{c.Apply && c.Locks == "", "--apply needs --locks with the lock store that the table's writers use, or --locks off if nobody writes"},
		{c.ToTop && c.LostFound != nil, "--to-top and --lost-found exclude each other"},
		{c.LostFound != nil && invalidName != nil, fmt.Sprintf("--lost-found %q: no row can have that name", value(c.LostFound))},
		{c.Batch != nil && *c.Batch < 1, "--batch must be positive"},
		{c.Wait != nil && *c.Wait <= 0, "--wait must be positive"},
		{c.Log != "" && !c.Apply, "--log without --apply: a dry run changes nothing"},
		{c.Tree != nil && *c.Tree == "", "--tree is empty; without it, all trees are checked"},
	} {
		if flaw.there {
			return fmt.Errorf("%w: %s", errUsage, flaw.says)
		}
	}
	return nil
}

// validateColumns returns an error if a name is missing, or if two flags name the same column.
func (c *fsckCommand) validateColumns() error {
	if c.Table == "" {
		return fmt.Errorf("%w: --table is empty", errUsage)
	}
	if err := c.columns.validate(); err != nil {
		return err
	}
	if _, err := pathlock.NewTree(cmp.Or(c.Namespace, c.Table), "any"); err != nil {
		return fmt.Errorf("%w: --namespace: %w", errUsage, err)
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
