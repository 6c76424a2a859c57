package etcdstore

import (
	"encoding/json"
	"fmt"
	"slices"
)

// remembered is how many of the latest updates a guard names.
const remembered = 8

// guard is the value of a tree's guard key. Every update that writes a ticket writes the guard,
// too, if it is still as it was read: so two updates never act on the same state.
type guard struct {
	// Fence is the latest fence of the tree.
	Fence uint64 `json:"fence"`
	// Updates names the latest updates, the last one first. A process that has lost the reply to
	// its update finds out here whether it was carried out.
	Updates []string `json:"updates"`
}

func decodeGuard(value []byte) (guard, error) {
	var g guard
	if err := json.Unmarshal(value, &g); err != nil {
		return g, fmt.Errorf("etcdstore: a guard that no etcdstore has written: %w", err)
	}
	return g, nil
}

// encode returns the value of a guard key.
func (g guard) encode() (string, error) {
	text, err := json.Marshal(g)
	if err != nil {
		return "", fmt.Errorf("etcdstore: encoding a guard: %w", err)
	}
	return string(text), nil
}

// next is the guard that an update leaves.
func (g guard) next(fence uint64, update string) guard {
	updates := append([]string{update}, g.Updates...)
	return guard{Fence: max(g.Fence, fence), Updates: updates[:min(len(updates), remembered)]}
}

// outcome is what a process knows of an update whose reply it has lost.
type outcome int

const (
	unknown outcome = iota
	carriedOut
	notCarriedOut
)

// outcomeOf returns what has become of an update that was based on the guard before.
func (g guard) outcomeOf(update string, before guard) outcome {
	switch {
	case slices.Contains(g.Updates, update):
		return carriedOut
	case len(before.Updates) > 0 && slices.Contains(g.Updates, before.Updates[0]):
		return notCarriedOut // all that came after before are known, and it is none of them
	case len(before.Updates) == 0 && len(g.Updates) > 0 && len(g.Updates) < remembered:
		return notCarriedOut // the first of them made the guard
	default:
		return unknown
	}
}
