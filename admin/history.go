package admin

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/contention"
)

// mostShownBlockers is how many of an episode's blockers are shown.
const mostShownBlockers = 8

// history is the answer about stalls.
type history struct {
	Version  string    `json:"version"`
	Now      stamp     `json:"now"`
	Instance string    `json:"instance"`
	Since    stamp     `json:"since"`
	Capacity int       `json:"capacity"`
	Dropped  int       `json:"dropped"`
	Episodes []episode `json:"episodes"`
	ByRoute  []byRoute `json:"by_route"`
	ByPlace  []byPlace `json:"by_place"`
}

type episode struct {
	ID           uint64    `json:"id"`
	Namespace    string    `json:"namespace"`
	Tree         string    `json:"tree"`
	Path         string    `json:"path"`
	Mode         string    `json:"mode,omitempty"`
	Gate         bool      `json:"gate"`
	Began        stamp     `json:"began"`
	Ended        *stamp    `json:"ended,omitempty"`
	Waits        int       `json:"waits"`
	MostWaiting  int       `json:"most_waiting"`
	TimedOut     int       `json:"timed_out"`
	WaiterMS     int64     `json:"waiter_ms"`
	LongestMS    int64     `json:"longest_ms"`
	Blockers     []blocker `json:"blockers"`
	BlockersMore int       `json:"blockers_more,omitempty"`
	Waiters      []waiter  `json:"waiters"`
	WaitersMore  int       `json:"waiters_more,omitempty"`
}

// party is who blocked or waited.
type party struct {
	Holder    string `json:"holder"`
	Owner     string `json:"owner"`
	Note      string `json:"note,omitempty"`
	Operation string `json:"operation,omitempty"`
	Route     string `json:"route,omitempty"`
	Instance  string `json:"instance,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Trace     string `json:"trace,omitempty"`
	Path      string `json:"path"`
	Mode      string `json:"mode,omitempty"`
}

type blocker struct {
	party
	Detached bool   `json:"detached"`
	Gate     bool   `json:"gate"`
	Waiting  bool   `json:"waiting"`
	Since    *stamp `json:"since,omitempty"`
	Waits    int    `json:"waits"`
	WaiterMS int64  `json:"waiter_ms"`
}

type waiter struct {
	party
	Began    stamp  `json:"began"`
	WaitedMS int64  `json:"waited_ms"`
	Outcome  string `json:"outcome"`
}

type byRoute struct {
	Route       string `json:"route"`
	Waits       int    `json:"waits"`
	WaitedMS    int64  `json:"waited_ms"`
	LongestMS   int64  `json:"longest_ms"`
	CausedWaits int    `json:"caused_waits"`
	CausedMS    int64  `json:"caused_ms"`
	Last        stamp  `json:"last"`
}

type byPlace struct {
	Namespace   string `json:"namespace"`
	Tree        string `json:"tree"`
	Path        string `json:"path"`
	Gate        bool   `json:"gate"`
	Episodes    int    `json:"episodes"`
	Waits       int    `json:"waits"`
	WaiterMS    int64  `json:"waiter_ms"`
	LongestMS   int64  `json:"longest_ms"`
	MostWaiting int    `json:"most_waiting"`
	Last        stamp  `json:"last"`
}

// historyVersion returns what changes with the history, "" if there is none.
func (p *Page) historyVersion() string {
	if p.config.History == nil {
		return ""
	}
	return strconv.FormatUint(p.config.History.Version(), 10)
}

func (p *Page) serveHistory(w http.ResponseWriter, r *http.Request) {
	if p.config.History == nil {
		fail(w, r, newProblem(http.StatusNotFound, "not-found", "no history is kept: the page was mounted without Config.History"))
		return
	}
	order := contention.Last
	if sort := r.URL.Query().Get("sort"); sort != "" {
		if order = contention.Order(sort); !slices.Contains(contention.Orders(), order) {
			fail(w, r, invalid("sort", "one of last, longest, waiter_seconds, waits"))
			return
		}
	}
	h := p.config.History.History()
	h.Sort(order)
	// What goes on changes by the second.
	etag := strconv.FormatUint(h.Version, 10) + "." + string(order) + "." + p.config.Instance
	if slices.ContainsFunc(h.Episodes, func(e contention.Episode) bool { return e.Ended.IsZero() }) {
		etag += "." + strconv.FormatInt(h.At.Unix(), 10)
	}
	answerUnlessKnown(w, r, hashed(etag), func() []byte { return encode(p.history(h, order)) })
}

// history returns what to show of a history.
func (p *Page) history(h contention.History, order contention.Order) history {
	shown := p.newShown()
	got := history{
		Version: strconv.FormatUint(h.Version, 10), Now: stamp(p.config.Now()), Instance: p.config.Instance, Since: stamp(h.Since),
		Capacity: h.Capacity, Dropped: h.Dropped, Episodes: []episode{}, ByRoute: []byRoute{}, ByPlace: []byPlace{},
	}
	for _, e := range h.Episodes {
		got.Episodes = append(got.Episodes, showEpisode(e, shown))
	}
	for _, s := range h.ByRoute(order) {
		got.ByRoute = append(got.ByRoute, byRoute{s.Name, s.Waits, ms(s.Waited), ms(s.Longest), s.CausedWaits, ms(s.Caused), stamp(s.Last)})
	}
	for _, s := range h.ByPlace(order) {
		got.ByPlace = append(got.ByPlace, byPlace{
			s.Tree.Namespace(), s.Tree.ID(), shown.path(s.Path), s.Gate, s.Episodes, s.Waits, ms(s.Waited), ms(s.Longest), s.MostWaiting, stamp(s.Last),
		})
	}
	return got
}

func showEpisode(e contention.Episode, shown *shown) episode {
	got := episode{
		ID: e.ID, Namespace: e.Tree.Namespace(), Tree: e.Tree.ID(), Path: shown.path(e.Path), Mode: modeOf(e.Mode), Gate: e.Gate,
		Began: stamp(e.Began), Ended: since(e.Ended), Waits: e.Waits, MostWaiting: e.MostWaiting, TimedOut: e.TimedOut,
		WaiterMS: ms(e.Waited), LongestMS: ms(e.Longest), Blockers: []blocker{}, Waiters: []waiter{},
	}
	for _, b := range e.Blockers[:min(len(e.Blockers), mostShownBlockers)] {
		got.Blockers = append(got.Blockers, blocker{
			party: newParty(e.Tree, b.Owner, b.Note, b.Origin, b.Path, b.Mode, shown), Detached: b.Detached, Gate: b.Gate,
			Waiting: b.Waiting, Since: since(b.Since), Waits: b.Waits, WaiterMS: ms(b.Waited),
		})
	}
	got.BlockersMore = len(e.Blockers) - len(got.Blockers)
	for _, w := range e.Waiters {
		got.Waiters = append(got.Waiters, waiter{
			party: newParty(e.Tree, w.Owner, w.Note, w.Origin, w.Path, w.Mode, shown), Began: stamp(w.Began), WaitedMS: ms(w.Waited), Outcome: string(w.Outcome),
		})
	}
	got.WaitersMore = e.Waits - len(got.Waiters)
	return got
}

func newParty(tree pathlock.Tree, owner pathlock.Owner, note string, o pathlock.Origin, path pathlock.Path, mode pathlock.Mode, shown *shown) party {
	return party{
		Holder: holderID(tree, owner), Owner: owner.Short(), Note: shown.note(note), Operation: o.Operation, Route: o.Route,
		Instance: o.Instance, RequestID: o.RequestID, Trace: o.Trace, Path: shown.path(path), Mode: modeOf(mode),
	}
}

// modeOf names a mode, or returns "" if none is known.
func modeOf(m pathlock.Mode) string {
	if !m.IsValid() {
		return ""
	}
	return m.String()
}

func ms(d time.Duration) int64 { return d.Milliseconds() }
