package command

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pathlock-go/pathlock"
)

type lockCommand struct {
	Name    string   `arg:"" optional:"" help:"Name of the lock, such as billing/nightly, as for Locker.Mutex in programs. With --tree, give none." placeholder:"NAME"`
	Command []string `arg:"" optional:"" help:"After --: the command and its arguments." placeholder:"COMMAND"`

	Tree    namedTree      `help:"Lock a node of a tree, such as testplan/plan-001, instead of a name." placeholder:"TREE"`
	Path    *pathlock.Path `help:"Path of the node (default: /, the whole tree)." placeholder:"PATH"`
	Shared  bool           `help:"Share the lock with others that give --shared, and keep writers out."`
	Wait    *time.Duration `help:"How long to wait for others; 0 means not to wait (default: no limit)." placeholder:"DURATION"`
	MaxHold time.Duration  `help:"How long the command may run. After that it is ended as if the lock were lost, and then the lock is released (default: no limit)." placeholder:"DURATION"`
	Note    string         `help:"Note that others see on the lock (default: the command's name and the user)." placeholder:"TEXT"`

	underLock
}

// Help is the detailed help of the command.
func (*lockCommand) Help() string {
	return `It waits for the lock, runs the command under it, and releases it when the command has ended. A name is the lock of Locker.Mutex(NAME) and
RWMutex in programs. A node is locked with everything below it. If the command itself locks the node, it waits for this lock.

Examples:

    pathlock lock billing/nightly --wait 0 -- ./nightly.sh --full
    pathlock lock --tree testplan/plan-001 --path /a/b -- ./import.sh

` + underLockHelp("The lock") + `

Exit codes: that of the command, 128 and the signal that ended it, or

    16   the command line is invalid
    123  the lock was lost, and the command was ended
    124  the lock was not granted in time
    125  the lock store does not answer; the command was not run
    126  the command cannot be run
    127  there is no such command
    129, 130, 143  SIGHUP, SIGINT or SIGTERM came before the lock was granted

pathlock ls mutex/NAME shows who holds a name and who waits for it.`
}

// Run implements the command.
func (c *lockCommand) Run(ctx context.Context, out *output, parsed *kong.Context, code *int) (err error) {
	request, name, command, err := c.request()
	if err != nil {
		*code = exitUsage
		return err
	}
	*code, err = c.run(ctx, out, parsed.Args, name, command, func(ctx context.Context, locker *pathlock.Locker) (heldLock, error) {
		lock, err := locker.Acquire(ctx, request)
		if err != nil {
			return heldLock{}, err
		}
		h := heldLock{ctx: lock.Context(), fence: lock.Fence(), until: lock.Until, release: lock.Release}
		if c.MaxHold > 0 {
			h.over = time.After(c.MaxHold) // the request's MaxHold would release it under the command
		}
		return h, nil
	})
	return err
}

// request returns what to ask for, what the command learns of it, and the command.
func (c *lockCommand) request() (r pathlock.Request, name string, command []string, err error) {
	name, command = c.Name, c.Command
	if err := (flaws{
		{c.Tree.IsZero() && c.Path != nil, "--path is for --tree"},
		{c.Wait != nil && *c.Wait < 0, "--wait is negative"},
		{c.MaxHold < 0, "--max-hold is negative"},
	}).refuse(); err != nil {
		return r, "", nil, err
	}
	path := pathlock.Root()
	if c.Tree.IsZero() {
		if r.Tree, err = pathlock.NewTree(pathlock.MutexNamespace, name); err != nil {
			err = fmt.Errorf("%w: the name of the lock, without --tree: %w", errUsage, err)
		}
	} else {
		if c.Name != "" { // without a name, the command comes first
			command = append([]string{c.Name}, command...)
		}
		r.Tree, name = c.Tree.Tree, nameOf(c.Tree.Tree)
		if c.Path != nil {
			path = *c.Path
			name += " " + path.String()
		}
	}
	r.Claims, r.Lease, r.Note = []pathlock.Claim{pathlock.X(path)}, c.Lease, cmp.Or(c.Note, noteOf(command))
	if c.Shared {
		r.Claims[0].Mode = pathlock.ModeS
	}
	if r.Wait = pathlock.Forever; c.Wait != nil {
		r.Wait = cmp.Or(*c.Wait, pathlock.NoWait)
	}
	return r, name, command, err
}
