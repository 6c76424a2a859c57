package command

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// entryLine is the JSON of a holder or a waiter, wherever one is named.
type entryLine struct {
	// Holder is the beginning of the owner: enough to name it, and too little to act for it.
	Holder   string          `json:"holder"`
	Gate     bool            `json:"gate"`
	Detached bool            `json:"detached"`
	Note     string          `json:"note,omitempty"`
	Origin   pathlock.Origin `json:"origin,omitzero"`
	Fence    uint64          `json:"fence,omitempty"`
	Since    time.Time       `json:"since"`
	Until    time.Time       `json:"until"`
}

// holdLine is a holder or a waiter in JSON.
type holdLine struct {
	// Type is holder or waiter, and in watch what happened to it.
	Type      string `json:"type"`
	Namespace string `json:"namespace"`
	Tree      string `json:"tree"`
	entryLine
	Claims   []pathlock.Claim `json:"claims"`
	WaitsFor []blockerLine    `json:"waits_for,omitempty"`
}

// blockerLine is somebody in the way.
type blockerLine struct {
	entryLine
	Waiting bool `json:"waiting"`
	// Path and Mode are where the two conflict, and what the one in the way has or wants there.
	Path pathlock.Path `json:"path"`
	Mode pathlock.Mode `json:"mode"`
}

// shortOf returns the beginning of an owner, as commands take it.
func shortOf(owner pathlock.Owner) string { return strings.TrimSuffix(owner.Short(), "…") }

func newEntryLine(e pathlock.Entry) entryLine {
	return entryLine{shortOf(e.Owner), e.Gate, e.Detached, e.Note, e.Origin, e.Fence, e.Since.UTC(), e.Until.UTC()}
}

func newHoldLine(kind string, tree pathlock.Tree, h pathlock.Entry, waitsFor []pathlock.Blocking) holdLine {
	line := holdLine{kind, tree.Namespace(), tree.ID(), newEntryLine(h), h.Claims, nil}
	if line.Claims == nil {
		line.Claims = []pathlock.Claim{}
	}
	for _, b := range waitsFor {
		line.WaitsFor = append(line.WaitsFor, newBlockerLine(b))
	}
	return line
}

func newBlockerLine(b pathlock.Blocking) blockerLine {
	return blockerLine{newEntryLine(*b.Entry), b.Waiting, b.Path, b.Mode}
}

// eachEntry calls f with each holder in a snapshot, and with each waiter and its blockers.
func eachEntry(s pathlock.Snapshot, f func(kind string, e pathlock.Entry, waitsFor []pathlock.Blocking)) {
	for _, h := range s.Holders {
		f("holder", h, nil)
	}
	blockers := s.Blockers()
	for i, w := range s.Waiters {
		f("waiter", w, blockers[i])
	}
}

// wanted says what is held or wanted, without the intentions that follow from it.
func wanted(gate bool, claims []pathlock.Claim) string {
	if gate {
		return "the whole tree"
	}
	var shown []string
	for _, c := range claims {
		implied := false
		for _, below := range claims {
			implied = implied || below.Path != c.Path && c.Path.Contains(below.Path) && below.Mode.Intention().Covers(c.Mode)
		}
		if !implied {
			shown = append(shown, c.String())
		}
	}
	return strings.Join(shown, ", ")
}

// about says what a hold is for, and where it came from.
func about(h pathlock.Entry) string {
	o := h.Origin
	var parts []string
	if what := cmp.Or(o.Route, o.Operation); what != "" {
		parts = append(parts, what)
	}
	if h.Note != "" && h.Note != o.Route && h.Note != o.Operation {
		parts = append(parts, fmt.Sprintf("%q", h.Note))
	}
	if h.Detached {
		parts = append(parts, "detached")
	}
	if o.Instance != "" {
		parts = append(parts, "on "+o.Instance)
	}
	if o.RequestID != "" {
		parts = append(parts, "request "+o.RequestID)
	}
	return strings.Join(parts, ", ")
}

// lasting returns a time span for people, never below 0: the clocks of the store and of this host
// may differ.
func lasting(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	default:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
}

// blockerNames lists those in the way.
func blockerNames(blockers []pathlock.Blocking) string {
	var all []string
	for _, b := range blockers {
		all = append(all, shortOf(b.Entry.Owner))
	}
	return strings.Join(all, ", ")
}
