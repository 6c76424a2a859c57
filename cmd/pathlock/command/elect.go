package command

import (
	"cmp"
	"context"

	"github.com/alecthomas/kong"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
)

type electCommand struct {
	Name    string   `arg:"" help:"Name of the election, such as billing/scheduler: that of election.New in programs." placeholder:"NAME"`
	Command []string `arg:"" optional:"" help:"After --: the command and its arguments." placeholder:"COMMAND"`

	Value string `help:"Text that observers of the election see as the leader, such as an address (default: the command's name and the user)." placeholder:"TEXT"`

	underLock
}

// Help is the detailed help of the command.
func (*electCommand) Help() string {
	return `It waits until this process leads, runs the command as the leader, and resigns when the command has ended. Candidates lead in order of
arrival, including those of package election in programs. Let a supervisor restart it when it ends, so that it becomes a candidate again.

Example:

    pathlock elect billing/scheduler --value 10.0.0.7:8080 -- ./scheduler

` + underLockHelp("The leadership") + `

Exit codes: that of the command, 128 and the signal that ended it, or

    16   the command line is invalid
    123  the leadership was lost, and the command was ended
    125  the lock store does not answer; the command was not run
    126  the command cannot be run
    127  there is no such command
    129, 130, 143  SIGHUP, SIGINT or SIGTERM came before this process led

pathlock ls election/NAME shows who leads and who waits.`
}

// Run implements the command.
func (c *electCommand) Run(ctx context.Context, out *output, parsed *kong.Context, code *int) (err error) {
	*code, err = c.run(ctx, out, parsed.Args, c.Name, c.Command, func(ctx context.Context, locker *pathlock.Locker) (heldLock, error) {
		e := election.New(locker, c.Name)
		e.Lease = c.Lease
		leadership, err := e.Campaign(ctx, cmp.Or(c.Value, noteOf(c.Command)))
		if err != nil {
			return heldLock{}, err
		}
		return heldLock{ctx: leadership.Context(), fence: leadership.Term(), until: leadership.Until, release: leadership.Resign}, nil
	})
	return err
}
