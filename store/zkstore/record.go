package zkstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// record is the data of a tree's znode. Each update writes it, so its version is the tree's.
//
// It lists the tickets with their versions, so that a process that has read them before reads only
// those that have changed.
type record struct {
	// fence is the latest in the tree.
	fence uint64
	// updates are the latest ones, the last one at the end: an update whose answer was lost finds
	// itself here, or not.
	updates []string
	// tickets has the version of each ticket's data, by the random part of its name.
	tickets map[string]int32
}

// rememberedUpdates is how many updates a record names.
const rememberedUpdates = 16

var errRecord = errors.New("the znode of the tree holds something else")

// The form is one line for the fence and the updates, and one for each ticket:
//
//	fence 1203 updates JQ2W… 7XN5…
//	ticket AB3K… 2
func (r record) encode() []byte {
	var b []byte
	b = append(b, "fence "...)
	b = strconv.AppendUint(b, r.fence, 10)
	b = append(b, " updates"...)
	for _, id := range r.updates {
		b = append(append(b, ' '), id...)
	}
	b = append(b, '\n')
	for _, id := range slices.Sorted(maps.Keys(r.tickets)) {
		b = append(append(append(b, "ticket "...), id...), ' ')
		b = strconv.AppendInt(b, int64(r.tickets[id]), 10)
		b = append(b, '\n')
	}
	return b
}

// decodeRecord reads a record. A tree's znode is empty until the first update.
func decodeRecord(data []byte) (record, error) {
	r := record{tickets: make(map[string]int32)}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		switch {
		case len(words) >= 3 && words[0] == "fence" && words[2] == "updates":
			fence, err := strconv.ParseUint(words[1], 10, 64)
			if err != nil {
				return record{}, fmt.Errorf("%w: %w", errRecord, err)
			}
			r.fence, r.updates = fence, words[3:]
		case len(words) == 3 && words[0] == "ticket":
			version, err := strconv.ParseInt(words[2], 10, 32)
			if err != nil {
				return record{}, fmt.Errorf("%w: %w", errRecord, err)
			}
			r.tickets[words[1]] = int32(version)
		default:
			return record{}, errRecord
		}
	}
	return r, nil
}

// after returns the updates with one more.
func (r record) after(update string) []string {
	updates := append(slices.Clone(r.updates), update)
	return updates[max(0, len(updates)-rememberedUpdates):]
}
