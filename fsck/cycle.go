package fsck

import (
	"slices"
)

// cycle is a closed round of parents.
type cycle struct {
	// first is the row with the smallest key, for which the cycle is reported and at which it is
	// broken.
	first Key
	// length is the number of rows.
	length int
	// members are the first rows, upwards from first; at most cycleMembers.
	members []Key
}

// cycleMembers is how many rows of a cycle are named in a report.
const cycleMembers = 16

// cycleOf describes the cycle that rows form, each the child of the next.
func cycleOf(rows []*row) *cycle {
	first := 0
	for i, r := range rows {
		if r.key.Compare(rows[first].key) < 0 {
			first = i
		}
	}
	c := &cycle{first: rows[first].key, length: len(rows)}
	for _, r := range slices.Concat(rows[first:], rows[:first]) {
		if len(c.members) == cycleMembers {
			break
		}
		c.members = append(c.members, r.key)
	}
	return c
}
