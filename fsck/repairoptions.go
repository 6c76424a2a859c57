package fsck

import (
	"io"
	"time"

	"github.com/pathlock-go/pathlock"
)

// RepairOptions say how to repair. The zero value is a dry run over the whole table.
type RepairOptions struct {
	// Tree restricts the repair to one tree; the zero Key is all.
	Tree Key
	// Apply makes the changes. Without it nothing is written, and Changed gets what would be.
	Apply bool
	// Locker, if set, takes the tree's gate for each transaction. Without it, row locks alone keep
	// the changes right while others write.
	Locker *pathlock.Locker
	// Wait is how long to wait for a gate, and for a row that somebody else has locked; 0 is a
	// minute. A tree that is busy for longer is skipped.
	Wait time.Duration
	// BatchRows is how many rows a transaction repairs at most; 0 is 500. A transaction that
	// creates a lost+found changes one row more, and at most two more for each path that a unique
	// index refuses.
	BatchRows int
	// LostFound is the name of the row, in each tree, below which rows without a place go; empty is
	// [DefaultLostFound]. A name that no path can have is an error that matches
	// [pathlock.ErrInvalidPath].
	LostFound string
	// ToTop puts rows without a place at the top of their tree instead.
	ToTop bool
	// Log, if set, gets each change as a line of JSON before the commit, and one more line after
	// it. An [os.File] that is not a pipe is synchronised each time.
	Log io.Writer
	// Report, if set, gets the problems as the first check finds them.
	Report func(Problem) error
	// Changed, if set, gets each change that has been committed or, in a dry run, would be.
	Changed func(Change) error
	// Left, if set, gets the problems that remain.
	Left func(Problem) error
	// Skipped, if set, gets the rows and trees that could not be repaired, and why.
	Skipped func(Skip) error
	// Progress, if set, is called now and then with how many rows of how many a phase has done.
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
	// Skipped is the number of rows and trees that could not be repaired.
	Skipped int64 `json:"skipped,omitempty"`
	// After is what a second check found; in a dry run, what would be left.
	After Summary `json:"after"`
}
