package fsck

import (
	"errors"
	"fmt"
	"strings"
)

// ErrMoves is matched by the error of a repair that would move most rows, without
// [RepairOptions.AllowMoves]. Nothing has been written.
var ErrMoves = errors.New("fsck: most rows would move")

// fewMoves is up to how many moves are a repair, whatever part of the table they are.
const fewMoves = 10

// Moves says how much of a table a repair would move: below lost+found, or nearer to the top than
// the paths say. Where that is nearly everything, the parents are wrong rather than the paths.
type Moves struct {
	Moves int64 `json:"moves"`
	Rows  int64 `json:"rows"`
	// Reason is why the repair needs [RepairOptions.AllowMoves], "" if it does not.
	Reason string `json:"reason,omitempty"`
}

// moves counts the rows that a repair would move. Those below an orphan, a cycle or another row
// that moves stay below it.
func (f *forest) moves() Moves {
	m := Moves{Rows: int64(len(f.rows))}
	flat := true
	for _, r := range f.rows {
		flat = flat && r.isTop()
		if r.fault != faultNone || f.cycles[r] != nil || f.rises(r) {
			m.Moves++
		}
	}
	switch {
	case m.Moves == 0:
	case flat:
		m.Reason = fmt.Sprintf("no row has a parent in %q, and paths name rows above them: fill the column first", f.table.Parent)
	case m.Moves > fewMoves && m.Moves > m.Rows/2:
		m.Reason = fmt.Sprintf("what %q says contradicts the paths of most rows: see which of them is right", f.table.Parent)
	}
	return m
}

// rises reports whether a path of a row names more rows above it than its parents are. What the
// paths above name too many is not its own.
func (f *forest) rises(r *row) bool {
	return f.surplus(r) > max(0, f.surplus(r.up))
}

// surplus is how many more rows above a row its paths name than its parents are.
func (f *forest) surplus(r *row) (n int) {
	if r == nil || r.state != placed {
		return 0
	}
	names := func(path string) int { return strings.Count(path, "/") }
	if r.path != nil && f.table.Path != "" {
		n = max(n, names(f.pathForm.Read(*r.path))-names(f.pathForm.Holds(r.wantPath)))
	}
	if r.idPath != nil && f.table.IDPath != "" {
		n = max(n, names(f.idForm.Read(*r.idPath))-names(f.idForm.Holds(r.wantIDPath)))
	}
	return n
}
