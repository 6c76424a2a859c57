package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

type releaseCommand struct {
	Tree      string `arg:"" help:"Tree: its namespace and id, such as testplan/plan-001, as ls shows it." placeholder:"TREE"`
	Holder    string `arg:"" help:"Holder or waiter, as ls shows it, or the fence of its lock." placeholder:"HOLDER"`
	Namespace string `help:"Namespace of the tree as programs have it. Then TREE is the id alone, as programs have it." placeholder:"NAME"`
	lockStore
	Reason string `help:"Why, for the output and the log." required:"" placeholder:"TEXT"`
	Yes    bool   `help:"Do not ask." short:"y"`
	Log    string `help:"File to which a line of JSON is appended that says who released what, and why." type:"path" placeholder:"FILE"`
	JSON   bool   `help:"Write that line to the output instead of a text." group:"Output:"`
}

// Help is the detailed help of the command.
func (*releaseCommand) Help() string {
	return `It takes away everything that the holder holds in the tree, and its places in the queue. Those who wait get the lock at once. The holder is not
stopped: it learns of it with its next renewal, after a third of its lease, and may write until then. What it writes through the plugin is
checked all the same before it is committed.

It shows the holder and asks first. Where there is no terminal, it needs --yes.

Examples:

    pathlock release testplan/plan-001 K3PE37 --reason "instance 4 hangs, see INC-17"
    pathlock release testplan/plan-001 1795201160757000 --yes --reason "nightly clean-up" --log /var/log/pathlock.jsonl

Exit codes:

    0    released
    4    nothing was released: nobody is called that, several are, or the answer was no
    8    the lock store does not answer, in which case the locks may be released or not, or the log cannot be written
    16   the command line is invalid
    130  interrupted`
}

// releasedLine is a release by force, in JSON.
type releasedLine struct {
	Type      string     `json:"type"`
	At        time.Time  `json:"at"`
	By        string     `json:"by"`
	Reason    string     `json:"reason"`
	Namespace string     `json:"namespace"`
	Tree      string     `json:"tree"`
	Holder    string     `json:"holder"`
	Holds     []holdLine `json:"holds"`
	// Unanswered is why the store's answer is missing. Then it may have released, or not.
	Unanswered string `json:"unanswered,omitempty"`
}

// Run implements the command.
func (c *releaseCommand) Run(ctx context.Context, streams streams, code *int) (err error) {
	defer func() { err = codeOf(ctx, err, code) }()
	tree, err := parseTree(c.Namespace, c.Tree)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(c.Reason) == "":
		return fmt.Errorf("%w: --reason is empty", errUsage)
	case !c.Yes && (!isTerminal(streams.in) || !isTerminal(streams.errs)):
		return fmt.Errorf("%w: nobody can be asked here, since this is no terminal: give --yes", errUsage)
	}
	log, err := openLog(c.Log)
	if err != nil {
		return err
	}
	if log != nil {
		defer func() { err = errors.Join(err, log.Close()) }()
	}
	locker, end, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer end()
	snapshot, err := locker.Snapshot(ctx, tree)
	if err != nil {
		return failed("looking at "+nameOf(tree), err)
	}
	treeName{c.Tree, c.Namespace}.sayConfusion(ctx, streams, locker, tree)
	owner, err := find(snapshot, c.Holder)
	if err != nil {
		*code = exitLeft
		return err
	}
	mine := of(snapshot, owner)
	if !c.Yes {
		yes, err := confirm(ctx, streams, mine)
		if err != nil {
			return err
		}
		if !yes {
			*code = exitLeft
			return errors.New("nothing was released")
		}
	}
	err = locker.ForceRelease(ctx, tree, owner)
	switch {
	case errors.Is(err, pathlock.ErrNotHeld):
		*code = exitLeft
		return fmt.Errorf("%s holds nothing in %s any more", shortOf(owner), nameOf(tree))
	case err != nil:
		err = failed("releasing "+shortOf(owner), err)
		return errors.Join(fmt.Errorf("%w; it may be released all the same: see pathlock ls %s", err, nameOf(tree)), c.record(log, newReleasedLine(mine, c.Reason, err)))
	}
	return c.released(streams.out, log, mine)
}

// find returns the owner with a short name or a fence. It must be the only one.
func find(s pathlock.Snapshot, name string) (pathlock.Owner, error) {
	short := strings.TrimSuffix(name, "…")
	fence, err := strconv.ParseUint(name, 10, 64)
	isFence := err == nil && fence > 0
	var owners []pathlock.Owner
	seen := make(map[pathlock.Owner]bool)
	for _, h := range append(s.Holders[:len(s.Holders):len(s.Holders)], s.Waiters...) {
		if !seen[h.Owner] && (shortOf(h.Owner) == short || isFence && h.Fence == fence) {
			seen[h.Owner] = true
			owners = append(owners, h.Owner)
		}
	}
	switch len(owners) {
	case 1:
		return owners[0], nil
	case 0:
		return "", fmt.Errorf("nobody called %s holds or waits in %s: see pathlock ls %[2]s", name, nameOf(s.Tree))
	default:
		text := fmt.Sprintf("%d are called %s in %s: name one by its fence:", len(owners), name, nameOf(s.Tree))
		for _, owner := range owners {
			for _, line := range holdTexts(of(s, owner), time.Now(), unlimited) {
				text += "\n  " + line
			}
		}
		return "", errors.New(text)
	}
}

// of returns what an owner has in a snapshot.
func of(s pathlock.Snapshot, owner pathlock.Owner) pathlock.Snapshot {
	mine := pathlock.Snapshot{Tree: s.Tree, Fence: s.Fence}
	for _, h := range s.Holders {
		if h.Owner == owner {
			mine.Holders = append(mine.Holders, h)
		}
	}
	for _, w := range s.Waiters {
		if w.Owner == owner {
			mine.Waiters = append(mine.Waiters, w)
		}
	}
	return mine
}

// holdTexts lists what an owner has.
func holdTexts(s pathlock.Snapshot, now time.Time, width int) []string {
	g := grid{width: width}
	for _, h := range s.Holders {
		g.add(shortOf(h.Owner), "holds "+claimsOf(h), "for "+lasting(now.Sub(h.Since)), "fence "+strconv.FormatUint(h.Fence, 10), about(h))
	}
	for _, w := range s.Waiters {
		g.add(shortOf(w.Owner), "waits for "+claimsOf(w), "for "+lasting(now.Sub(w.Since)), "", about(w))
	}
	return g.lines()
}

// confirm shows what would be released, and asks. The goroutine that reads the answer ends with the
// process, if nobody answers.
func confirm(ctx context.Context, streams streams, mine pathlock.Snapshot) (bool, error) {
	width, _ := sizeOf(streams.errs)
	for _, line := range holdTexts(mine, time.Now(), width) {
		if _, err := fmt.Fprintln(streams.errs, line); err != nil {
			return false, fmt.Errorf("ask: %w", err)
		}
	}
	if _, err := fmt.Fprintf(streams.errs, "Release all of this in %s? [y/N] ", nameOf(mine.Tree)); err != nil {
		return false, fmt.Errorf("ask: %w", err)
	}
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := bufio.NewReader(streams.in).ReadString('\n')
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return false, fmt.Errorf("read the answer: %w", a.err)
		}
		switch strings.ToLower(strings.TrimSpace(a.text)) {
		case "y", "yes":
			return true, nil
		}
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// newReleasedLine says that an owner's locks were released, or, if there is an error, that they may
// have been.
func newReleasedLine(mine pathlock.Snapshot, reason string, unanswered error) releasedLine {
	record := releasedLine{
		Type: "released-by-force", At: time.Now().UTC(), By: whoAmI(), Reason: reason, Namespace: mine.Tree.Namespace(), Tree: mine.Tree.ID(),
	}
	for _, h := range mine.Holders {
		record.Holds = append(record.Holds, newHoldLine("holder", mine.Tree, h, nil))
	}
	for _, w := range mine.Waiters {
		record.Holds = append(record.Holds, newHoldLine("waiter", mine.Tree, w, nil))
	}
	record.Holder = record.Holds[0].Holder
	if unanswered != nil {
		record.Unanswered = unanswered.Error()
	}
	return record
}

// record appends a line to the log, if there is one.
func (*releaseCommand) record(log *os.File, record releasedLine) error {
	if log == nil {
		return nil
	}
	if err := line(log, record); err != nil {
		return fmt.Errorf("log the release: %w", err)
	}
	return nil
}

// released reports the release.
func (c *releaseCommand) released(out io.Writer, log *os.File, mine pathlock.Snapshot) error {
	record := newReleasedLine(mine, c.Reason, nil)
	if err := c.record(log, record); err != nil {
		return fmt.Errorf("released, but not logged: %w", err)
	}
	if c.JSON {
		return line(out, record)
	}
	text := fmt.Sprintf("released in %s by %s: %s\n", nameOf(mine.Tree), record.By, c.Reason)
	for _, each := range holdTexts(mine, time.Now(), unlimited) {
		text += "  " + each + "\n"
	}
	if _, err := io.WriteString(out, printable(text)); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
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
