package etcdstore

import (
	"encoding/json"
	"fmt"
	"slices"
)

// remembered is how many of the latest updates a guard names.
const remembered = 16

// guard is the value of a guard key. Every update writes the guard of its tree, if it is still as
// it was read: so two updates never act on the same state.
type guard struct {
	// Fence is the latest fence of the trees that share the guard.
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

// after returns the value of the guard that an update leaves.
func (g guard) after(fence uint64, update string) (string, error) {
	updates := append([]string{update}, g.Updates...)
	text, err := json.Marshal(guard{Fence: max(g.Fence, fence), Updates: updates[:min(len(updates), remembered)]})
	if err != nil {
		return "", fmt.Errorf("etcdstore: encoding a guard: %w", err)
	}
	return string(text), nil
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
	case len(g.Updates) < remembered, len(before.Updates) > 0 && slices.Contains(g.Updates, before.Updates[0]):
		return notCarriedOut // all that came after before are known, and it is none of them
	default:
		return unknown
	}
}
