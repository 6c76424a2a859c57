package fsck

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/pathlock-go/pathlock"
)

// RepairOptions are the options of [Checker.Repair]. The zero value is a dry run over the whole
// table. An error of a callback ends the repair, which returns the error.
type RepairOptions struct {
	// Tree restricts the repair to one tree; the zero Key means all trees.
	Tree Key
	// Apply makes the changes. Without it, nothing is written, and Changed gets the changes that a
	// repair would make.
	Apply bool
	// AllowMoves makes changes that move most rows, too. See [MoveCount] and [ErrMoves].
	AllowMoves bool
	// Locker, if set, takes the tree's gate for each transaction. Without it, row locks alone keep
	// the changes right while others write.
	Locker *pathlock.Locker
	// Wait is how long to wait for a gate, and for a row that another session has locked; 0 means a
	// minute. The repair skips a tree that is busy for longer.
	Wait time.Duration
	// BatchRows is the most rows that a transaction repairs; 0 means 500. A transaction that
	// creates a lost+found changes one row more, and at most two more for each path that a unique
	// index refuses.
	BatchRows int
	// LostFound has the values of a lost+found in columns that [Table] does not describe: "2";
	// "{unique}" for a text that no other row has; "{row}" for the value of the row of the tree
	// with the smallest key. Another column gets its default, or else the zero value of its type,
	// and a text in a unique index of its own "{unique}".
	LostFound map[string]string
	// Log, if set, gets each change as a line of JSON before the commit, and one more line after
	// it. A regular [os.File] is synced each time.
	Log io.Writer
	// Moves, if set, is what a dry run calls first.
	Moves func(MoveCount) error
	// Report, if set, gets the problems that the first check finds.
	Report func(Problem) error
	// Changed, if set, gets each committed change or, in a dry run, each change that a repair would
	// make.
	Changed func(Change) error
	// Left, if set, gets the problems that remain.
	Left func(Problem) error
	// Skipped, if set, gets the rows and trees that the repair skipped, and why.
	Skipped func(Skip) error
}

// Values of [RepairOptions.LostFound] that differ from tree to tree.
const uniqueValue, rowValue = "{unique}", "{row}"

// Defaults of [RepairOptions].
const (
	defaultBatchRows = 500
	defaultGateWait  = time.Minute
)

func (o RepairOptions) withDefaults() RepairOptions {
	o.BatchRows, o.Wait = cmp.Or(max(o.BatchRows, 0), defaultBatchRows), cmp.Or(o.Wait, defaultGateWait)
	o.Moves, o.Report, o.Left = orIgnore(o.Moves), orIgnore(o.Report), orIgnore(o.Left)
	o.Changed, o.Skipped = orIgnore(o.Changed), orIgnore(o.Skipped)
	return o
}

// orIgnore returns f, or a function that does nothing if f is nil.
func orIgnore[T any](f func(T) error) func(T) error {
	if f == nil {
		return func(T) error { return nil }
	}
	return f
}

// RepairSummary is the outcome of a repair.
type RepairSummary struct {
	// Before is the result of the first check, zero if the repair ended before that.
	Before Summary `json:"before,omitzero"`
	// Changes is the number of values that were changed or, in a dry run, would be.
	Changes int64 `json:"changes"`
	// Transactions is the number of committed transactions.
	Transactions int `json:"transactions"`
	// Skipped is the number of rows and trees that the repair skipped.
	Skipped int64 `json:"skipped,omitempty"`
	// After is the result of a second check or, in a dry run, what a repair would leave. It is zero
	// if the repair ended early: nobody has looked at what is left.
	After Summary `json:"after,omitzero"`
}

// Skip is a row, or a whole tree, that a repair leaves as it is. The repair goes on with the
// others.
type Skip struct {
	Tree Key `json:"tree"`
	// Leaves is the table of a leaf, "" for a row of the table itself.
	Leaves string `json:"leaves,omitempty"`
	// ID is the row; the zero Key for a whole tree, such as one that another session keeps busy.
	ID Key `json:"id"`
	// Why is the problem that stays.
	Why Kind `json:"why,omitempty"`
	// Reason says what prevented the repair.
	Reason string `json:"reason"`
}

// String writes the skip for people.
func (s Skip) String() string {
	if s.ID.IsZero() {
		return fmt.Sprintf("tree %v: %s", s.Tree, s.Reason)
	}
	return fmt.Sprintf("tree %v, row %v%s (%s): %s", s.Tree, s.ID, ofLeaves(s.Leaves), s.Why, s.Reason)
}
