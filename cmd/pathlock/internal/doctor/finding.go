package doctor

import "slices"

// Level says how much a [Finding] matters.
type Level uint8

const (
	// Fine means that it is as it should be.
	Fine Level = iota
	// Advice means that nothing is wrong, and that something could be better.
	Advice
	// Unknown means that it could not be looked at, for want of a right or of an answer.
	Unknown
	// Warning means that locks may be lost or delayed if something else goes wrong, too. The tree
	// in the database stays right.
	Warning
	// Problem means that locks are lost or not granted, or that a tree can break, as things are.
	Problem
)

// String returns the level's name in lower case: "problem".
func (l Level) String() string {
	return [...]string{"fine", "advice", "unknown", "warning", "problem"}[min(l, Problem)]
}

// MarshalText implements [encoding.TextMarshaler] with [Level.String].
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is one thing that was looked at.
type Finding struct {
	Level Level `json:"level"`
	// About is what was looked at: the address of a server, or the name of a table.
	About string `json:"about"`
	// Check names what was looked for: "eviction".
	Check string `json:"check"`
	// Is says how it is.
	Is string `json:"is"`
	// Means says what follows from that. It is empty if all is fine.
	Means string `json:"means,omitempty"`
	// Change says what to do about it, if there is something to do.
	Change string `json:"change,omitempty"`
	// Statements do it in SQL, in this order.
	Statements []string `json:"statements,omitempty"`
}

// Report is the result of an examination.
type Report struct{ Findings []Finding }

// Count returns how many findings have a level.
func (r Report) Count(level Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// Sort puts what matters most first. Findings of one level stay in order.
func (r Report) Sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return int(b.Level) - int(a.Level) })
}

// Unanswered reports whether a server did not answer at all without which locks are not granted, or
// trees not read.
func (r Report) Unanswered() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Check == answerCheck && f.Level == Problem })
}

// answerCheck is the check whether a server answers.
const answerCheck = "answer"
