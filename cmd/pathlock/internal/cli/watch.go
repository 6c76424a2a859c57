package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/pathlock-go/pathlock"
)

type watchCommand struct {
	treeName
	lockStore
	Interval time.Duration `help:"Time between two looks, at least 100ms (default: 1s)." default:"1s" placeholder:"DURATION"`
	JSON     bool          `help:"Write one JSON object per line for each change, on a terminal, too." group:"Output:"`
}

// leastInterval is how often a lock store may be asked.
const leastInterval = 100 * time.Millisecond

// Help is the detailed help of the command.
func (*watchCommand) Help() string {
	return `It looks at the trees, or at one tree, at an interval. On a terminal, it draws what ls shows, again and again. Elsewhere, it writes a line for
each change, and at the beginning one for each who holds or waits. What begins and ends between two looks is not seen.

Examples:

    pathlock watch testplan/plan-001
    pathlock watch --json --interval 200ms | jq -r 'select(.type == "waiter") | .holder'

It ends with SIGINT (Ctrl-C), with SIGTERM, and with the first line that nobody reads, with exit code 0. It ends with 8 if the first look fails. If a
later one does, it says so, goes on, and says when the lock store answers again.

--json writes one object per line. Its "type" says what happened:

    holder    it holds
    waiter    it waits
    released  it holds no longer
    left      it waits no longer, and holds nothing for it`
}

// Run implements the command.
func (c *watchCommand) Run(ctx context.Context, streams streams, code *int) (err error) {
	defer func() { err = codeOf(ctx, err, code) }()
	tree, err := c.parse()
	if err != nil {
		return err
	}
	if c.Interval < leastInterval {
		return fmt.Errorf("%w: --interval must be %v or more", errUsage, leastInterval)
	}
	locker, end, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer end()
	look := func(ctx context.Context) ([]pathlock.Snapshot, error) {
		if tree.IsZero() {
			return lookAll(ctx, locker)
		}
		snapshot, err := locker.Snapshot(ctx, tree)
		if err != nil {
			return nil, failed("looking at "+nameOf(tree), err)
		}
		return []pathlock.Snapshot{snapshot}, nil
	}
	var show watcher = newChanges(streams, c.JSON)
	if isTerminal(streams.out) && !c.JSON && os.Getenv("TERM") != "dumb" {
		show = &screen{out: streams.out, one: !tree.IsZero(), interval: c.Interval}
	}
	if !tree.IsZero() {
		c.sayConfusion(ctx, streams, locker, tree)
	}
	err = c.loop(ctx, look, show)
	if ctx.Err() != nil {
		return nil // a signal is the way to end it
	}
	return err
}

// watcher shows what was seen.
type watcher interface {
	saw([]pathlock.Snapshot) error
	// missed says that a look failed.
	missed(error) error
	end()
}

// loop looks until the context ends, nobody reads, or the first look fails.
func (c *watchCommand) loop(ctx context.Context, look func(context.Context) ([]pathlock.Snapshot, error), show watcher) error {
	defer show.end()
	tick := time.NewTicker(c.Interval)
	defer tick.Stop()
	for first := true; ; first = false {
		all, err := look(ctx)
		switch {
		case ctx.Err() != nil || err != nil && first:
			return err
		case err != nil:
			err = show.missed(err)
		default:
			err = show.saw(all)
		}
		switch {
		case errors.Is(err, errNobodyReads):
			return nil
		case err != nil:
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// errNobodyReads says that whoever has read the output is gone.
var errNobodyReads = errors.New("nobody reads the output")

// readersError makes errNobodyReads of the error for a pipe without a reader. On its standard
// output, a program is ended by SIGPIPE before it gets that error.
func readersError(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return errNobodyReads
	}
	return err
}

// screen draws a terminal anew after each look.
type screen struct {
	out      io.Writer
	one      bool
	interval time.Duration
	begun    bool
	last     []string
}

// What terminals understand.
const (
	otherScreen = "\x1b[?1049h\x1b[?25l"
	firstScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	toLineEnd   = "\x1b[K"
	toScreenEnd = "\x1b[J"
)

func (s *screen) saw(all []pathlock.Snapshot) error {
	width, _ := sizeOf(s.out)
	if s.one && len(all) == 1 {
		s.last = snapshotText(all[0], time.Now(), width)
	} else {
		s.last = treesText(all, time.Now(), width)
	}
	return s.draw(fmt.Sprintf("every %v, at %s; Ctrl-C ends", s.interval, time.Now().Format(time.TimeOnly)))
}

func (s *screen) missed(err error) error {
	return s.draw(strings.ReplaceAll(printable(err.Error()), "\n", " "))
}

// draw draws what was seen last below a line.
func (s *screen) draw(status string) error {
	width, height := sizeOf(s.out)
	lines := s.last
	if rest := len(lines) - (height - 3); rest > 0 {
		lines = append(lines[:max(len(lines)-rest-1, 0):max(len(lines)-rest-1, 0)], fmt.Sprintf("… and %d more lines", rest+1))
	}
	var b strings.Builder
	if !s.begun {
		b.WriteString(otherScreen)
		s.begun = true
	}
	b.WriteString(home + cut("pathlock watch: "+status, width) + toLineEnd + "\r\n" + toLineEnd + "\r\n")
	for _, text := range lines {
		b.WriteString(text + toLineEnd + "\r\n")
	}
	b.WriteString(toScreenEnd)
	_, err := io.WriteString(s.out, b.String())
	return readersError(err)
}

func (s *screen) end() {
	if s.begun {
		_, _ = io.WriteString(s.out, firstScreen) // the terminal may be gone
	}
}

// changes writes a line for each change.
type changes struct {
	out   *bufio.Writer
	errs  io.Writer
	json  bool
	known map[string]holdLine
	order []string
	// missedAt is when a failure was last written, zero if the last look succeeded.
	missedAt time.Time
}

// missedAgain is how often the failures of an outage are written.
const missedAgain = time.Minute

func newChanges(s streams, json bool) *changes {
	return &changes{out: bufio.NewWriter(s.out), errs: s.errs, json: json, known: make(map[string]holdLine)}
}

func (c *changes) end() {}

// missed writes the first failure of an outage, and one a minute of those that follow. What
// differs between them is mostly a port.
func (c *changes) missed(err error) error {
	if !c.missedAt.IsZero() && time.Since(c.missedAt) < missedAgain {
		return nil
	}
	c.missedAt = time.Now()
	_, _ = fmt.Fprintln(c.errs, "pathlock:", printable(err.Error()))
	return nil
}

func (c *changes) saw(all []pathlock.Snapshot) error {
	if !c.missedAt.IsZero() {
		c.missedAt = time.Time{}
		_, _ = fmt.Fprintln(c.errs, "pathlock: the lock store answers again")
	}
	now := make(map[string]holdLine)
	var order []string
	enter := func(kind string, s pathlock.Snapshot, h pathlock.Entry, waitsFor []pathlock.Blocking) {
		key := fmt.Sprintf("%q %q %s %s %d %d", s.Tree.Namespace(), s.Tree.ID(), kind, h.Owner, h.Fence, h.Since.UnixNano())
		now[key] = newHoldLine(kind, s.Tree, h, waitsFor)
		order = append(order, key)
	}
	for _, s := range all {
		for _, h := range s.Holders {
			enter("holder", s, h, nil)
		}
		blockers := s.Blockers()
		for i, w := range s.Waiters {
			enter("waiter", s, w, blockers[i])
		}
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
		if err := c.write(gone); err != nil {
			return err
		}
	}
	for _, key := range order {
		if _, ok := c.known[key]; !ok {
			if err := c.write(now[key]); err != nil {
				return err
			}
		}
	}
	c.known, c.order = now, order
	return readersError(c.out.Flush())
}

// write writes a change.
func (c *changes) write(l holdLine) error {
	if c.json {
		return readersError(line(c.out, l))
	}
	said := map[string]string{"holder": "holds", "waiter": "waits for", "released": "has released", "left": "has left the queue for"}[l.Type]
	text := fmt.Sprintf("%s: %s %s %s", name(l.Namespace, l.Tree), l.Holder, said, l.wants())
	if l.Note != "" {
		text += fmt.Sprintf(" (%q)", l.Note)
	}
	_, err := c.out.WriteString(strings.ReplaceAll(printable(text), "\n", `\n`) + "\n")
	return readersError(err)
}

// wants says what a hold holds or wants.
func (l holdLine) wants() string {
	if l.Gate {
		return "the whole tree"
	}
	return claimsText(l.Claims)
}
