package fsck

import (
	"io"
	"time"

	"github.com/pathlock-go/pathlock"
)

// RepairOptions say how to repair. The zero RepairOptions are a dry run over the whole table.
type RepairOptions struct {
	// Tree restricts the repair to one tree; the zero Key is all.
	Tree Key
	// Apply makes the changes. Without it nothing is written, and Changed is told what would be.
	Apply bool
	// Locker, if set, takes the gate of a tree for each transaction that changes it. Without one,
	// row locks alone keep the changes right while others write.
	Locker *pathlock.Locker
	// Wait is how long to wait for a gate, and for a row that somebody else has locked; 0 is a
	// minute. A tree that is busy for longer is left as it is.
	Wait time.Duration
	// BatchRows is how many rows a transaction mends at most; 0 is 500. One that also creates a
	// lost+found changes one more, and one in which unique indexes refuse paths puts aside at most
	// two more for each.
	BatchRows int
	// LostFound is the name of the rows that get what has no place; empty is [DefaultLostFound].
	// One that no path can have is an error that matches [pathlock.ErrInvalidPath].
	LostFound string
	// ToTop puts what has no place at the top of its tree, instead of below a lost+found.
	ToTop bool
	// Log, if set, gets each change as a line of JSON before it is committed, and a line when it
	// has been. An [os.File] that is no pipe is synchronised each time.
	Log io.Writer
	// Report, if set, is told of the problems as the first check finds them.
	Report func(Problem) error
	// Changed, if set, is told of each change that has been committed or, in a dry run, would be.
	Changed func(Change) error
	// Left, if set, is told of the problems that remain.
	Left func(Problem) error
	// Skipped, if set, is told of the rows and trees that could not be mended, and why.
	Skipped func(Skip) error
	// Progress, if set, is told now and then how many rows of how many a phase has done.
	Progress func(phase string, done, total int64)
}

// Defaults of [RepairOptions].
const (
	defaultBatchRows = 500
	defaultGateWait  = time.Minute
)

func (o RepairOptions) withDefaults() RepairOptions {
	if o.BatchRows <= 0 {
		o.BatchRows = defaultBatchRows
	}
	if o.Wait == 0 {
		o.Wait = defaultGateWait
	}
	if o.LostFound == "" {
		o.LostFound = DefaultLostFound
	}
	return o
}

// RepairSummary is the outcome of a repair.
type RepairSummary struct {
	// Before is what the first check found.
	Before Summary `json:"before"`
	// Changes is the number of values that were changed, or would be.
	Changes int64 `json:"changes"`
	// Transactions is how many were committed.
	Transactions int `json:"transactions"`
	// Skipped is the number of rows and trees that could not be mended.
	Skipped int64 `json:"skipped,omitempty"`
	// After is what a second check found; in a dry run, what would be left.
	After Summary `json:"after"`
}
