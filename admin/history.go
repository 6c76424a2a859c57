package admin

import (
	"net/http"
	"time"
)

// history is the answer about past waits.
type history struct {
	Instance string    `json:"instance"`
	Since    time.Time `json:"since"`
	Capacity int       `json:"capacity"`
	Dropped  int       `json:"dropped"`
	Waits    []wait    `json:"waits"`
}

// wait is a request that had to wait, the last one to end first.
type wait struct {
	Namespace string    `json:"namespace"`
	ID        string    `json:"id"`
	Path      string    `json:"path"`
	Mode      string    `json:"mode,omitempty"`
	Gate      bool      `json:"gate"`
	Began     time.Time `json:"began"`
	WaitedMS  int64     `json:"waited_ms"`
	Outcome   string    `json:"outcome"`
	Waiter    party     `json:"waiter"`
	// Blocker was in its way, if that is known.
	Blocker *blocker `json:"blocker,omitempty"`
}

type blocker struct {
	party
	Mode    string     `json:"mode,omitempty"`
	Gate    bool       `json:"gate"`
	Waiting bool       `json:"waiting"`
	Since   *time.Time `json:"since,omitempty"`
}

func (p *page) serveHistory(w http.ResponseWriter, r *http.Request) {
	if p.config.History == nil {
		fail(w, newProblem(http.StatusNotFound, "not-found", "no history is kept: the page was mounted without Config.History"))
		return
	}
	h := p.config.History.History()
	texts := p.newRedactor()
	got := history{Instance: p.config.Instance, Since: h.Since.UTC(), Capacity: h.Capacity, Dropped: h.Dropped, Waits: []wait{}}
	for _, one := range h.Waits {
		line := wait{
			Namespace: one.Tree.Namespace(), ID: one.Tree.ID(), Path: texts.path(one.Path), Mode: modeOf(one.Mode), Gate: one.Gate,
			Began: one.Began.UTC(), WaitedMS: one.Ended.Sub(one.Began).Milliseconds(), Outcome: one.Outcome,
			Waiter: newParty(one.Owner, one.Note, one.Origin, texts),
		}
		if b := one.Blocker; !b.IsZero() {
			line.Blocker = &blocker{newParty(b.Owner, b.Note, b.Origin, texts), modeOf(b.Mode), b.Gate, b.Waiting, stamp(b.Since)}
		}
		got.Waits = append(got.Waits, line)
	}
	answer(w, r, got, 0)
}
