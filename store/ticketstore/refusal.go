package ticketstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// reasonWire is why a wait was refused, in JSON: a deadlock, or else a loss.
type reasonWire struct {
	Lost     text          `json:"lost,omitempty"`
	Deadlock *deadlockWire `json:"deadlock,omitempty"`
}

type deadlockWire struct {
	Path    text        `json:"path"`
	Mode    string      `json:"mode"`
	Gate    bool        `json:"gate,omitempty"`
	Blocker blockerWire `json:"blocker"`
}

type blockerWire struct {
	Owner   text    `json:"owner"`
	Note    text    `json:"note,omitempty"`
	Gate    bool    `json:"gate,omitempty"`
	Mode    string  `json:"mode"`
	Waiting bool    `json:"waiting,omitempty"`
	Since   instant `json:"since,omitzero"`
	Until   instant `json:"until,omitzero"`
}

// encodeReason returns why a request's wait was refused, for its own process.
func encodeReason(err error) []byte {
	var w reasonWire
	if d := (*pathlock.DeadlockError)(nil); errors.As(err, &d) {
		w.Deadlock = &deadlockWire{
			Path: text(d.Path.String()), Mode: d.Mode.String(), Gate: d.Gate,
			Blocker: blockerWire{
				Owner: text(d.Blocker.Owner), Note: text(d.Blocker.Note), Gate: d.Blocker.Gate, Mode: d.Blocker.Mode.String(),
				Waiting: d.Blocker.Waiting, Since: instantOf(d.Blocker.Since), Until: instantOf(d.Blocker.Until),
			},
		}
	} else {
		w.Lost = text(strings.TrimPrefix(err.Error(), pathlock.ErrLost.Error()+": "))
	}
	encoded, _ := json.Marshal(w) // nothing in it can fail
	return encoded
}

// decodeReason returns the error that encodeReason has written.
func decodeReason(tree pathlock.Tree, encoded []byte) error {
	var w reasonWire
	if err := json.Unmarshal(encoded, &w); err != nil {
		return fmt.Errorf("%w: the wait in %s was ended", pathlock.ErrLost, tree)
	}
	if w.Deadlock == nil {
		return fmt.Errorf("%w: %s", pathlock.ErrLost, string(w.Lost))
	}
	d := &pathlock.DeadlockError{Tree: tree, Gate: w.Deadlock.Gate}
	b := w.Deadlock.Blocker
	d.Blocker = pathlock.Blocker{
		Owner: pathlock.Owner(b.Owner), Note: string(b.Note), Gate: b.Gate, Waiting: b.Waiting,
		Since: b.Since.time(), Until: b.Until.time(),
	}
	// The path and the modes help people. What cannot be read stays empty.
	_ = d.Path.UnmarshalText([]byte(w.Deadlock.Path))
	_ = d.Mode.UnmarshalText([]byte(w.Deadlock.Mode))
	_ = d.Blocker.Mode.UnmarshalText([]byte(b.Mode))
	return d
}
