package fsck

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Kind is the kind of a problem.
type Kind string

// The kinds of problems.
const (
	// BadName: no path can have the name. It is NULL, empty, "." or "..", contains a slash, what
	// separates names in the path's form or a control character, is not UTF-8, or is longer than
	// [pathlock.MaxNameBytes]. The rows below
	// have no right path.
	BadName Kind = "bad-name"
	// Orphan: the parent is missing, deleted, or in another tree. The rows below have no right
	// path.
	Orphan Kind = "orphan"
	// Cycle: the row is its own ancestor. A check reports each cycle once, for the row with the
	// smallest key.
	Cycle Kind = "cycle"
	// TooDeep: the path would have more than [pathlock.MaxDepth] names. A repair leaves the row as
	// it is.
	TooDeep Kind = "too-deep"
	// WrongPath: the path is not the parent's right path + "/" + name, in the column's form.
	WrongPath Kind = "wrong-path"
	// WrongIDPath: the id path is not the parent's right id path + "/" + the row's key, in the
	// column's form.
	WrongIDPath Kind = "wrong-id-path"
	// WrongDepth: the depth is not that of the right path.
	WrongDepth Kind = "wrong-depth"
	// PathTooLong: the path is wrong, and the right one does not fit into the column. A repair
	// leaves the path as it is.
	PathTooLong Kind = "path-too-long"
	// BesideRoot: the row is at the top of a tree with a root row, which must be alone there. Of
	// several root rows, the one with the smallest key counts.
	BesideRoot Kind = "beside-root"
	// Duplicate: a sibling with a smaller key has the same name.
	Duplicate Kind = "duplicate"
	// Lookalike: a sibling with a smaller key has another name that the collation of the name
	// column treats as equal, such as "a" and "A", or "a" and "a ".
	Lookalike Kind = "lookalike"
)

// Problem is one thing that is wrong with one row.
type Problem struct {
	Kind Kind `json:"problem"`
	// Leaves is the table of a leaf, "" for a row of the table itself.
	Leaves string `json:"leaves,omitempty"`
	Tree   Key    `json:"tree"`
	ID     Key    `json:"id"`
	// Others are the other rows of the problem: an orphan's parent, the next members of a cycle (at
	// most 15), the sibling with the same name, or the root row.
	Others []Key  `json:"others,omitempty"`
	Name   string `json:"name"`
	// Is is the current path, nil for NULL. Want is the right path, nil if there is none or the
	// problem is not about the path. For [WrongIDPath], both are id paths, for [WrongDepth] depths.
	Is   *string `json:"is"`
	Want *string `json:"want"`
	// Detail explains the problem to people.
	Detail string `json:"detail"`
}

// String writes the problem for people.
func (p Problem) String() string {
	text := fmt.Sprintf("%s: tree %v, row %v%s %q: %s", p.Kind, p.Tree, p.ID, ofLeaves(p.Leaves), p.Name, p.Detail)
	if p.Want != nil {
		is := "NULL"
		if p.Is != nil {
			is = fmt.Sprintf("%q", *p.Is)
		}
		text += fmt.Sprintf(" (is %s, should be %q)", is, *p.Want)
	}
	return text
}

// ofLeaves says in which table a leaf is.
func ofLeaves(table string) string {
	if table == "" {
		return ""
	}
	return " of " + table
}

// Summary is the outcome of a check.
type Summary struct {
	// Rows is the number of live rows that were checked, with the leaves.
	Rows int64 `json:"rows"`
	// Problems counts the problems by kind.
	Problems map[Kind]int64 `json:"problems"`
}

// Total is the number of problems.
func (s Summary) Total() int64 {
	var n int64
	for _, count := range s.Problems {
		n += count
	}
	return n
}

// The database's answer to a failed statement decides how the repair goes on. It retries a
// transaction that the database has given up, and skips a tree that another session keeps busy and
// a row that the database refuses. Any other answer ends the repair.

// isRetryable reports whether the database gave a transaction up in favour of another.
func (c *catalogue) isRetryable(err error) bool {
	return c.dialect.Classify(err) == dialect.FailureEnded
}

// isBusy reports whether another session held a lock for longer than the transaction waits.
func (c *catalogue) isBusy(err error) bool {
	return c.dialect.Classify(err) == dialect.FailureRetry
}

// isRefused reports whether the database refused a statement because of the row that it writes. It
// may accept other rows.
func (c *catalogue) isRefused(err error) bool {
	return c.dialect.Refuses(err) || errors.Is(err, errNamed)
}

// errNamed: rows name the key of a new row as their parent.
var errNamed = errors.New("fsck")

// canceled adds the context's cause to an error, if the context has ended. Some databases report an
// interruption in their own words.
func canceled(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}
