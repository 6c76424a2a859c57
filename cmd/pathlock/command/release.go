package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

type releaseCommand struct {
	Tree   namedTree `arg:"" help:"Tree: its namespace and id, such as testplan/plan-001, as ls shows it." placeholder:"TREE"`
	Holder string    `arg:"" help:"Holder or waiter, as ls shows it, or the fence of its lock." placeholder:"HOLDER"`
	lockStore
	Reason string `help:"Reason, for the output." required:"" placeholder:"TEXT"`
	JSON   bool   `help:"Write one line of JSON that says who released what, and why." group:"Output:"`
}

// Help is the detailed help of the command.
func (*releaseCommand) Help() string {
	return `It takes away everything that the holder holds in the tree, and its places in the queue. Waiters get the lock at once. This does not stop the
holder: it learns of the release at its next renewal, at the latest after a third of its lease, and may write until then. The plugin still
checks what the holder writes through it before the commit.

Examples:

    pathlock release testplan/plan-001 K3PE37 --reason "instance 4 hangs, see INC-17"
    pathlock release testplan/plan-001 1795201160757000 --reason "nightly clean-up" --json >> /var/log/pathlock.jsonl

Exit codes:

    0    released
    4    nothing was released: no holder or waiter matches, or several do
    8    the lock store does not answer; the locks may or may not be released
    16   the command line is invalid
    130  interrupted`
}

// releasedLine is a release by force, in JSON.
type releasedLine struct {
	At        time.Time  `json:"at"`
	By        string     `json:"by"`
	Reason    string     `json:"reason"`
	Namespace string     `json:"namespace"`
	Tree      string     `json:"tree"`
	Holder    string     `json:"holder"`
	Holds     []holdLine `json:"holds"`
	// Unanswered says why the store's answer is missing. The store may or may not have released
	// then.
	Unanswered string `json:"unanswered,omitempty"`
}

// Run implements the command.
func (c *releaseCommand) Run(ctx context.Context, out *output, code *int) error {
	tree := c.Tree.Tree
	if strings.TrimSpace(c.Reason) == "" {
		return fmt.Errorf("%w: --reason is empty", errUsage)
	}
	locker, end, err := c.open(ctx, true)
	if err != nil {
		return err
	}
	defer end()
	snapshot, err := lookAt(ctx, locker, tree)
	if err != nil {
		return err
	}
	owner, err := find(snapshot, c.Holder)
	if err != nil {
		*code = exitLeft
		return err
	}
	mine := entriesOf(snapshot, owner)
	err = locker.ForceRelease(ctx, tree, owner)
	if errors.Is(err, pathlock.ErrNotHeld) {
		*code = exitLeft
		return fmt.Errorf("%s holds nothing in %s any more", shortOf(owner), nameOf(tree))
	}
	line := releasedLine{At: time.Now().UTC(), By: whoAmI(), Reason: c.Reason, Namespace: tree.Namespace(), Tree: tree.ID(), Holder: shortOf(owner)}
	eachEntry(mine, func(kind string, e pathlock.Entry, _ []pathlock.Blocking) {
		line.Holds = append(line.Holds, newHoldLine(kind, tree, e, nil))
	})
	if err != nil {
		err = failed("releasing "+line.Holder, err)
		if line.Unanswered = err.Error(); c.JSON {
			out.object(typed{"released-by-force", line})
		}
		return fmt.Errorf("%w; it may have been released nevertheless: see pathlock ls %s", err, nameOf(tree))
	}
	text := fmt.Sprintf("released in %s by %s: %s", nameOf(tree), line.By, c.Reason)
	out.say(c.JSON, typed{"released-by-force", line}, append([]string{text}, holdTexts(mine)...)...)
	return nil
}

// find returns the owner with a short name or a fence. It must be the only one.
func find(s pathlock.Snapshot, name string) (pathlock.Owner, error) {
	short := strings.TrimSuffix(name, "…")
	fence, err := strconv.ParseUint(name, 10, 64)
	isFence := err == nil && fence > 0
	var owners []pathlock.Owner
	for _, e := range slices.Concat(s.Holders, s.Waiters) {
		called := shortOf(e.Owner) == short || isFence && e.Fence == fence
		if called && !slices.Contains(owners, e.Owner) {
			owners = append(owners, e.Owner)
		}
	}
	switch len(owners) {
	case 1:
		return owners[0], nil
	case 0:
		return "", fmt.Errorf("nobody called %q holds or waits in %s: see pathlock ls %[2]s", name, nameOf(s.Tree))
	default:
		return "", fmt.Errorf("%d are called %q in %s: name one by its fence: see pathlock ls %[3]s", len(owners), name, nameOf(s.Tree))
	}
}

// entriesOf returns what an owner has in a snapshot.
func entriesOf(s pathlock.Snapshot, owner pathlock.Owner) pathlock.Snapshot {
	others := func(e pathlock.Entry) bool { return e.Owner != owner }
	s.Holders = slices.DeleteFunc(slices.Clone(s.Holders), others)
	s.Waiters = slices.DeleteFunc(slices.Clone(s.Waiters), others)
	return s
}

// holdTexts lists what an owner has.
func holdTexts(s pathlock.Snapshot) []string {
	g := grid{}
	eachEntry(s, func(kind string, e pathlock.Entry, _ []pathlock.Blocking) {
		does, fence := "holds ", fmt.Sprint("fence ", e.Fence)
		if kind == "waiter" {
			does, fence = "waits for ", ""
		}
		g.add("  "+shortOf(e.Owner), does+wanted(e.Gate, e.Claims), "for "+lasting(s.Now.Sub(e.Since)), fence, about(e))
	})
	return g.lines()
}

// whoAmI names the user and the host.
func whoAmI() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}
