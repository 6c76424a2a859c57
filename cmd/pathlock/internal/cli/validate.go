package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// errUsage is matched by the error for an invalid command line.
var errUsage = errors.New("usage")

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
	columns := [][2]string{
		{"--key", c.Key}, {"--tree-column", c.TreeColumn}, {"--parent", c.Parent}, {"--name", c.Name}, {"--path", c.Path},
		{"--id-path", c.IDPath}, {"--deleted", c.mark()}, {"--version-column", c.Version},
	}
	for _, named := range append([][2]string{{"--table", c.Table}}, columns[:4]...) {
		if named[1] == "" {
			return fmt.Errorf("%w: %s is empty", errUsage, named[0])
		}
	}
	if _, err := pathlock.NewTree(cmp.Or(c.Namespace, c.Table), "any"); err != nil {
		return fmt.Errorf("%w: --namespace: %w", errUsage, err)
	}
	if value(c.Deleted) != "" && value(c.DeletedFlag) != "" {
		return fmt.Errorf("%w: --deleted and --deleted-flag: only one column marks a row as deleted", errUsage)
	}
	if c.Path == "" && c.IDPath == "" {
		return fmt.Errorf("%w: neither --path nor --id-path names a column", errUsage)
	}
	flags := make(map[string]string)
	for _, column := range columns {
		flag, name := column[0], column[1]
		if other := flags[name]; name != "" && other != "" {
			return fmt.Errorf("%w: %s and %s are both the column %q", errUsage, other, flag, name)
		}
		flags[name] = flag
	}
	return nil
}
