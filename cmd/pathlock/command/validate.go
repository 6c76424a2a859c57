package command

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
)

// errUsage is matched by the error for an invalid command line.
var errUsage = errors.New("usage")

// flaws are what may be wrong with a command line.
type flaws []struct {
	there bool
	says  string
}

// refuse returns an error for the first flaw that is there.
func (all flaws) refuse() error {
	for _, flaw := range all {
		if flaw.there {
			return fmt.Errorf("%w: %s", errUsage, flaw.says)
		}
	}
	return nil
}

// columns are a [fsck.Table] with a flag for each of its columns: one converts into the other.
type columns struct {
	Table       string       `kong:"-"`
	Key         string       `help:"Column of the primary key (default: id)." default:"id" placeholder:"NAME" group:"Columns of the table:"`
	Tree        string       `help:"Column of the tree's id (default: plan_id)." default:"plan_id" name:"tree-column" placeholder:"NAME" group:"Columns of the table:"`
	SingleTree  string       `help:"Id of the only tree, if the table has no column for it." placeholder:"ID" group:"Columns of the table:"`
	Parent      string       `help:"Column of the parent's key (default: parent_id)." default:"parent_id" placeholder:"NAME" group:"Columns of the table:"`
	ParentTop   string       `help:"Value of that column in a row at the top, besides NULL and zero: --parent-top=-1." name:"parent-top" placeholder:"KEY" group:"Columns of the table:"`
	Name        string       `help:"Column of the row's name. Give --name= if places follow from ids alone (default: name)." default:"name" placeholder:"NAME" group:"Columns of the table:"`
	Path        string       `help:"Column of the path, such as /a/b. Give --path= if the table has only paths of ids (default: path)." default:"path" placeholder:"NAME" group:"Columns of the table:"`
	IDPath      string       `help:"Column of the path of ids, such as /1/17 (default: none)." name:"id-path" placeholder:"NAME" group:"Columns of the table:"`
	PathForm    string       `help:"How the path is written, as the path of two names: /0/*/*/ for /0/a/b/c/ (default: /*/*)." name:"path-form" placeholder:"FORM" group:"Columns of the table:"`
	IDPathForm  string       `help:"How the path of ids is written (default: /*/*)." name:"id-path-form" placeholder:"FORM" group:"Columns of the table:"`
	Depth       string       `help:"Column of the depth of a row (default: none)." placeholder:"NAME" group:"Columns of the table:"`
	DepthTop    string       `help:"Depth of a row whose path has one name (default: 1)." name:"depth-top" placeholder:"NUMBER" group:"Columns of the table:"`
	Deleted     string       `help:"Column that marks a row as deleted. In a live row it is NULL, 0, false or empty. Give --deleted= if rows are deleted for good (default: deleted_at)." default:"deleted_at" placeholder:"NAME" group:"Columns of the table:"`
	DeletedWhen string       `help:"Value by which that column marks a row as deleted: archived, 2. All others are then live (default: see --deleted)." name:"deleted-when" placeholder:"VALUE" group:"Columns of the table:"`
	Version     string       `help:"Column of a number that grows with each change of a row, including those of a repair (default: none)." name:"version-column" placeholder:"NAME" group:"Columns of the table:"`
	Fence       string       `kong:"-"`
	Leaves      []fsck.Table `kong:"-"`
	Namespace   string       `kong:"-"`
}

// leafTables describes the tables of --leaves.
func (c *fsckCommand) leafTables() (tables []fsck.Table, err error) {
	for _, text := range c.Leaves {
		name, query, _ := strings.Cut(text, "?")
		given, err := url.ParseQuery(query)
		if err != nil {
			return nil, fmt.Errorf("%w: --leaves %s: %w", errUsage, text, err)
		}
		leaf := fsck.Table{Table: name, Key: "id", Name: "name"}
		known := maps.Collect(leaf.Flags)
		for option, values := range given {
			if known[option] == nil || len(values) > 1 {
				return nil, fmt.Errorf("%w: --leaves %s: %s is unknown, or given twice; known are %s", errUsage, text, option, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
			*known[option] = values[0]
		}
		tables = append(tables, leaf)
	}
	return tables, nil
}

// describe describes a table to package fsck. Its error says which flags describe none.
func (c columns) describe(table, namespace string, leaves ...fsck.Table) (fsck.Table, error) {
	c.Table, c.Namespace, c.Leaves = table, namespace, leaves
	if c.SingleTree != "" {
		c.Tree = ""
	}
	described := fsck.Table(c)
	if err := described.Check(); err != nil {
		return described, fmt.Errorf("%w: %w", errUsage, err)
	}
	return described, nil
}

// validate returns an error if flags contradict each other, or have an invalid value.
func (c *fsckCommand) validate() error {
	if _, err := pathlock.NewTree(cmp.Or(c.Namespace, c.Table), "any"); err != nil {
		return fmt.Errorf("%w: --namespace: %w", errUsage, err)
	}
	return flaws{
		{c.Table == "", "--table is empty"},
		{c.Apply && !c.Repair, "--apply without --repair"},
		{c.Apply && c.Locks == "", "--apply needs --locks with the lock store that the table's writers use, or --locks off if nobody writes"},
		{len(c.LostFound) > 0 && !c.Repair, "--lost-found without --repair"},
		{c.Wait <= 0, "--wait must be positive"},
		{c.Log != "" && !c.Apply, "--log without --apply: a dry run changes nothing"},
		{c.Tree != nil && *c.Tree == "", "--tree is empty; without it, all trees are checked"},
		{c.Tree != nil && c.SingleTree != "" && *c.Tree != c.SingleTree, "--tree and --single-tree are different trees"},
	}.refuse()
}
