package command

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
	"github.com/pathlock-go/pathlock/store/memstore"
)

type explainCommand struct {
	Operation string         `arg:"" help:"Operation: ${enum}." enum:"insert,rename,move,copy,delete,edit,read,slot,gate"`
	Tree      namedTree      `arg:"" help:"Tree: its namespace and id, such as testplan/plan-001, as ls shows it." placeholder:"TREE"`
	Node      *pathlock.Path `arg:"" optional:"" help:"Path of the node, such as /a/b; for an insert, the parent's path." placeholder:"PATH"`

	To              *pathlock.Path `help:"Path of the new parent, for a move or a copy." placeholder:"PATH"`
	NewName         string         `help:"New name, for an insert, a rename, a move or a copy. Without it, the operation locks the whole parent." placeholder:"NAME"`
	Snapshot        bool           `help:"The copy reads its source from one snapshot, and does not lock it."`
	ParentExclusive bool           `help:"Lock the parent instead of the name, as the parent-exclusive rule does."`

	lockStore
	JSON bool `help:"Write one JSON object per line." group:"Output:"`
}

// Help is the detailed help of the command.
func (*explainCommand) Help() string {
	return `It shows what an operation locks, by the rules of the middleware and the plugin, and who blocks it now. It takes no lock. Without a lock
store, it shows only the locks. An operation on the whole tree is called gate.

Examples:

    pathlock explain rename testplan/plan-001 /dir1 --new-name dir2
    pathlock explain move testplan/plan-001 /dir1/a --to /dir3

Exit codes:

    0    nobody blocks it, or no lock store was given
    4    somebody blocks it
    8    the lock store does not answer
    16   the command line is invalid

--json writes one object per line: the first has the type claims, and each other one the type in-the-way.`
}

// claimsLine is what an operation locks, in JSON.
type claimsLine struct {
	Operation string           `json:"operation"`
	Namespace string           `json:"namespace"`
	Tree      string           `json:"tree"`
	Gate      bool             `json:"gate"`
	Claims    []pathlock.Claim `json:"claims"`
}

// Run implements the command.
func (c *explainCommand) Run(ctx context.Context, out *output, code *int) error {
	if err := c.validate(); err != nil {
		return err
	}
	tree := c.Tree.Tree
	op, err := c.operation()
	if err != nil {
		return err
	}
	var locker *pathlock.Locker
	if c.Locks != "" {
		var end func()
		if locker, end, err = c.open(ctx, true); err != nil {
			return err
		}
		defer end()
	}
	gate := op.Kind == operation.Gate
	claims, err := c.claims(op)
	if err != nil {
		return err
	}
	out.say(c.JSON, typed{"claims", claimsLine{c.Operation, tree.Namespace(), tree.ID(), gate, claims}}, claimsText(tree, op, claims)...)
	if locker == nil {
		return nil
	}
	snapshot, err := lookAt(ctx, locker, tree)
	if err != nil {
		return err
	}
	inTheWay := snapshot.InTheWay("", gate, claims)
	if len(inTheWay) > 0 {
		*code = exitLeft
	}
	if !c.JSON {
		out.text(inTheWayText(inTheWay, snapshot.Now)...)
		return nil
	}
	for _, b := range inTheWay {
		out.object(typed{"in-the-way", newBlockerLine(b)})
	}
	return nil
}

// validate returns an error for flags that the operation does not take, or lacks.
func (c *explainCommand) validate() error {
	names := c.Operation == "insert" || c.Operation == "rename" || c.Operation == "move" || c.Operation == "copy"
	goes := c.Operation == "move" || c.Operation == "copy"
	return flaws{
		{c.NewName != "" && !names, "--new-name is for insert, rename, move and copy"},
		{c.To != nil && !goes, "--to is for move and copy"},
		{goes && c.To == nil, "a " + c.Operation + " needs --to"},
		{c.Snapshot && c.Operation != "copy", "--snapshot is for copy"},
		{c.Node == nil && c.Operation != "gate", "no path: name the node, such as /a/b"},
		{c.Node != nil && c.Operation == "gate", "a gate locks the whole tree, and takes no path"},
	}.refuse()
}

// operation returns the operation on paths.
func (c *explainCommand) operation() (o operation.Operation, err error) {
	for kind := operation.Insert; kind <= operation.Gate; kind++ {
		if kind.String() == c.Operation {
			o = operation.Operation{Kind: kind, Name: c.NewName, Snapshot: c.Snapshot}
		}
	}
	switch {
	case c.Node == nil: // a gate
	case o.Kind == operation.Insert:
		o.Dest = *c.Node
	default:
		o.Node = *c.Node
	}
	if c.To != nil {
		o.Dest = *c.To
	}
	if c.NewName != "" {
		if _, err := pathlock.Root().Child(c.NewName); err != nil {
			return o, fmt.Errorf("%w: --new-name: %w", errUsage, err)
		}
	}
	return o, flaws{ // for which the middleware and the plugin would refuse it before they lock anything
		{o.DisplacesRoot(), "the root of a tree cannot be the target of a " + c.Operation},
		{o.MovesIntoItself(), fmt.Sprintf("%s cannot be moved below itself, to %s", o.Node, o.Dest)},
	}.refuse()
}

// claims returns the operation's claims, in the form in which a lock store gets them.
func (c *explainCommand) claims(o operation.Operation) ([]pathlock.Claim, error) {
	rule := operation.NameSlot
	if c.ParentExclusive {
		rule = operation.ParentExclusive
	}
	fold := pathlock.New(memstore.New()) // a locker that is asked for nothing else
	claims := o.Claims(rule)
	for i, claim := range claims {
		folded, err := fold.Folded(claim.Path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
		claims[i].Path = folded
	}
	return pathlock.Normalize(claims...), nil
}

// meanings says what each mode prevents others from doing.
var meanings = map[pathlock.Mode]string{
	pathlock.ModeIS:  "others may not lock all of it exclusively",
	pathlock.ModeIX:  "others may not lock all of it",
	pathlock.ModeS:   "others may not change anything in it",
	pathlock.ModeSIX: "others may only read single nodes in it",
	pathlock.ModeX:   "others may neither change nor lock anything in it",
}

// claimsText shows to people what an operation locks.
func claimsText(tree pathlock.Tree, o operation.Operation, claims []pathlock.Claim) []string {
	if o.Kind == operation.Gate {
		return []string{fmt.Sprintf("%v in %s takes the gate: the whole tree, exclusively", o.Kind, nameOf(tree))}
	}
	lines := []string{fmt.Sprintf("%v in %s locks:", o.Kind, nameOf(tree))}
	g := grid{}
	for _, claim := range claims {
		g.add("  "+claim.Mode.String(), claim.Path.String(), meanings[claim.Mode])
	}
	return append(lines, g.lines()...)
}

// inTheWayText tells people who is in the way now, by the store's clock.
func inTheWayText(all []pathlock.Blocking, now time.Time) []string {
	if len(all) == 0 {
		return []string{"nobody is in the way: it would be granted at once"}
	}
	g := grid{}
	g.add("IN THE WAY", "WHERE", "FOR", "ENDS IN", "WHAT")
	for _, b := range all {
		state := "holds"
		if b.Waiting {
			state = "waits for"
		}
		where := fmt.Sprintf("%s %s %s", state, b.Mode, b.Path)
		if b.Entry.Gate {
			where = state + " the whole tree"
		}
		g.add(shortOf(b.Entry.Owner), where, lasting(now.Sub(b.Entry.Since)), remaining(b.Entry.Until.Sub(now)), about(*b.Entry))
	}
	return g.lines()
}
