package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/pathlock-go/pathlock"
)

type watchCommand struct {
	Tree namedTree `arg:"" optional:"" help:"Tree: its namespace and id, such as testplan/plan-001, as ls shows it." placeholder:"TREE"`
	lockStore
	Interval time.Duration `help:"Time between two looks, at least 100ms (default: 1s)." default:"1s" placeholder:"DURATION"`
	JSON     bool          `help:"Write one JSON object per line for each change." group:"Output:"`
}

// leastInterval is how often a lock store may be asked.
const leastInterval = 100 * time.Millisecond

// Help is the detailed help of the command.
func (*watchCommand) Help() string {
	return `It looks at the trees, or at one tree, at an interval. It first writes a line for each holder and waiter, then one for each change. It misses what
begins and ends between two looks. To repeat the output of ls, run watch(1): watch pathlock ls testplan/plan-001.

Examples:

    pathlock watch testplan/plan-001
    pathlock watch --json --interval 200ms | jq -r 'select(.type == "waiter") | .holder'

It ends with exit code 0 on SIGINT (Ctrl-C), on SIGTERM, and when nobody reads its output any more. It ends with 8 if the first look fails. If a
later look fails, it says so, goes on, and says when the lock store answers again.

--json writes one object per line. Its "type" says what happened:

    holder    somebody holds a lock
    waiter    somebody waits
    released  somebody no longer holds a lock
    left      somebody has stopped waiting without getting the lock`
}

// Run implements the command. It looks until a signal ends it, nobody reads, or the first look
// fails.
func (c *watchCommand) Run(ctx context.Context, out *output) error {
	if c.Interval < leastInterval {
		return fmt.Errorf("%w: --interval must be %v or more", errUsage, leastInterval)
	}
	locker, end, err := c.open(ctx, true)
	if err != nil {
		return err
	}
	defer end()
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // which would end the program before an error says so
	defer signal.Stop(broken)
	show := newChanges(out, c.JSON)
	tick := time.NewTicker(c.Interval)
	defer tick.Stop()
	for first := true; ; first = false {
		all, err := look(ctx, locker, c.Tree.Tree)
		switch {
		case ctx.Err() != nil:
			return nil // a signal is the way to end it
		case all == nil && err != nil && first:
			return err
		case all == nil && err != nil:
			show.missed(err)
		default:
			show.saw(all, err)
			if out.flush() != nil {
				return nil // Main says why, unless nobody reads
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// changes writes a line for each change.
type changes struct {
	out   *output
	json  bool
	known map[string]holdLine
	order []string
	// missing is set while looks fail.
	missing bool
}

func newChanges(out *output, json bool) *changes {
	return &changes{out: out, json: json, known: make(map[string]holdLine)}
}

// missed writes the first failure of an outage.
func (c *changes) missed(err error) {
	if !c.missing {
		c.out.warn(err.Error())
	}
	c.missing = true
}

// saw writes the changes. The error is about trees whose snapshots have no time: their last known
// state remains.
func (c *changes) saw(all []pathlock.Snapshot, err error) {
	switch {
	case err != nil:
		c.missed(err)
	case c.missing:
		c.missing = false
		c.out.warn("the lock store answers again")
	}
	now := make(map[string]holdLine)
	var order []string
	for _, s := range all {
		for _, key := range c.order {
			if h := c.known[key]; s.Now.IsZero() && h.Namespace == s.Tree.Namespace() && h.Tree == s.Tree.ID() {
				now[key], order = h, append(order, key)
			}
		}
		eachEntry(s, func(kind string, e pathlock.Entry, waitsFor []pathlock.Blocking) {
			key := fmt.Sprintf("%q %q %s %s %d %d", s.Tree.Namespace(), s.Tree.ID(), kind, e.Owner, e.Fence, e.Since.UnixNano())
			now[key] = newHoldLine(kind, s.Tree, e, waitsFor)
			order = append(order, key)
		})
	}
	type place struct{ namespace, tree, holder string }
	granted := make(map[place]bool)
	for _, key := range order {
		if h := now[key]; h.Type == "holder" && c.known[key].Type == "" {
			granted[place{h.Namespace, h.Tree, h.Holder}] = true
		}
	}
	for _, key := range c.order {
		if _, ok := now[key]; ok {
			continue
		}
		gone := c.known[key]
		switch {
		case gone.Type == "holder":
			gone.Type = "released"
		case granted[place{gone.Namespace, gone.Tree, gone.Holder}]:
			continue // it holds now, which has a line of its own
		default:
			gone.Type = "left"
		}
		c.write(gone)
	}
	for _, key := range order {
		if _, ok := c.known[key]; !ok {
			c.write(now[key])
		}
	}
	c.known, c.order = now, order
}

// write writes a change.
func (c *changes) write(l holdLine) {
	said := map[string]string{"holder": "holds", "waiter": "waits for", "released": "has released", "left": "has left the queue for"}[l.Type]
	text := fmt.Sprintf("%s: %s %s %s", name(l.Namespace, l.Tree), l.Holder, said, wanted(l.Gate, l.Claims))
	if l.Note != "" {
		text += fmt.Sprintf(" (%q)", l.Note)
	}
	c.out.say(c.json, l, strings.ReplaceAll(text, "\n", `\n`))
}
