package admin

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/pathlock-go/pathlock"
)

// mostEdges is how many of those in its way an entry names.
const mostEdges = 10

// stamp is a time in JSON, in UTC.
type stamp time.Time

// MarshalJSON implements [json.Marshaler].
func (s stamp) MarshalJSON() ([]byte, error) { return time.Time(s).UTC().MarshalJSON() }

// since returns a stamp, nil for the zero time.
func since(t time.Time) *stamp {
	if t.IsZero() {
		return nil
	}
	return new(stamp(t))
}

// entry is a grant or a queued request.
type entry struct {
	Key       string  `json:"key"`
	Holder    string  `json:"holder"`
	Owner     string  `json:"owner"`
	Fence     uint64  `json:"fence"`
	Gate      bool    `json:"gate"`
	Detached  bool    `json:"detached"`
	Claims    []claim `json:"claims"`
	Note      string  `json:"note,omitempty"`
	Operation string  `json:"operation,omitempty"`
	Route     string  `json:"route,omitempty"`
	Instance  string  `json:"instance,omitempty"`
	RequestID string  `json:"request_id,omitempty"`
	Trace     string  `json:"trace,omitempty"`
	Since     *stamp  `json:"since,omitempty"`
	Until     *stamp  `json:"until,omitempty"`
	WaitedFor int     `json:"waited_for,omitempty"`
	WaitsFor  []edge  `json:"waits_for,omitempty"`
	More      int     `json:"waits_for_more,omitempty"`
}

// claim is a node with the mode in which it is claimed.
type claim struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
}

// edge leads from a waiter to an entry in its way.
type edge struct {
	Key     string `json:"key"`
	Waiting bool   `json:"waiting"`
	Gate    bool   `json:"gate,omitempty"`
	Path    string `json:"path"`
	Mode    string `json:"mode"`
}

// treeView is a tree as the page shows it.
type treeView struct {
	tree             pathlock.Tree
	snapshot         pathlock.Snapshot
	version          string
	at               time.Time
	holders, waiters []string
	// entries are encoded, by key.
	entries map[string]json.RawMessage
}

// view returns what to show of a snapshot.
func (p *Page) view(s pathlock.Snapshot, at time.Time) *treeView {
	v := &treeView{
		tree: s.Tree, snapshot: s, at: at, entries: make(map[string]json.RawMessage, len(s.Holders)+len(s.Waiters)),
	}
	shown := p.newShown()
	keys := entryKeys(&s)
	for i := range s.Holders {
		v.holders = append(v.holders, keys[&s.Holders[i]])
	}
	for i := range s.Waiters {
		v.waiters = append(v.waiters, keys[&s.Waiters[i]])
	}
	blockers := s.Blockers()
	waitedFor := make(map[*pathlock.Entry]int)
	for _, all := range blockers {
		for _, b := range all {
			waitedFor[b.Entry]++
		}
	}
	add := func(h *pathlock.Entry, all []pathlock.Blocking) {
		e := p.entry(s.Tree, h, shown)
		e.Key, e.WaitedFor = keys[h], waitedFor[h]
		for _, b := range nearest(all) {
			e.WaitsFor = append(e.WaitsFor, edge{
				Key: keys[b.Entry], Waiting: b.Waiting, Gate: b.Entry.Gate || h.Gate, Path: shown.path(b.Path), Mode: b.Mode.String(),
			})
		}
		e.More = len(all) - len(e.WaitsFor)
		v.entries[e.Key] = encode(e)
	}
	for i := range s.Holders {
		add(&s.Holders[i], nil)
	}
	for i := range s.Waiters {
		add(&s.Waiters[i], blockers[i])
	}
	v.version = v.hash()
	return v
}

// nearest returns those of a waiter's blockers that are named: holders first, and then the waiters
// that came last. The others are reached through those.
func nearest(all []pathlock.Blocking) []pathlock.Blocking {
	var holders, waiters []pathlock.Blocking
	for _, b := range all {
		if b.Waiting {
			waiters = append(waiters, b)
		} else {
			holders = append(holders, b)
		}
	}
	room := mostEdges - min(len(holders), mostEdges)
	if len(waiters) > 0 {
		room = max(room, 1) // the queue stays connected
	}
	named := holders[:min(len(holders), mostEdges-min(room, len(waiters)))]
	for i := len(waiters) - 1; i >= 0 && len(named) < mostEdges; i-- {
		named = append(named[:len(named):len(named)], waiters[i])
	}
	return named
}

// entry describes a grant or a queued request.
func (p *Page) entry(tree pathlock.Tree, h *pathlock.Entry, shown *shown) entry {
	e := entry{
		Holder: holderID(tree, h.Owner), Owner: h.Owner.Short(), Fence: h.Fence, Gate: h.Gate, Detached: h.Detached,
		Claims: make([]claim, 0, len(h.Claims)), Note: shown.note(h.Note),
		Operation: h.Origin.Operation, Route: h.Origin.Route, Instance: h.Origin.Instance,
		RequestID: h.Origin.RequestID, Trace: h.Origin.Trace,
		Since: since(h.Since), Until: since(h.Until),
	}
	for _, c := range h.Claims {
		e.Claims = append(e.Claims, claim{shown.path(c.Path), c.Mode.String()})
	}
	return e
}

// hash returns a version that changes with anything that is shown.
func (v *treeView) hash() string {
	sum := sha256.New()
	for _, keys := range [][]string{v.holders, v.waiters} {
		for _, key := range keys {
			_, _ = sum.Write(v.entries[key])
		}
		_, _ = sum.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12])
}

// head is what the whole of a tree and a change have in common.
type head struct {
	Namespace string            `json:"namespace"`
	ID        string            `json:"id"`
	From      string            `json:"from,omitempty"`
	Version   string            `json:"version"`
	Now       stamp             `json:"now"`
	Fence     uint64            `json:"fence"`
	Holders   []string          `json:"holders"`
	Waiters   []string          `json:"waiters"`
	Entries   []json.RawMessage `json:"entries"`
}

// whole returns everything.
func (v *treeView) whole() []byte { return encode(v.head(func(string) bool { return true })) }

// changeFrom returns what is new or different since an earlier view.
func (v *treeView) changeFrom(before *treeView) []byte {
	h := v.head(func(key string) bool { return !bytes.Equal(v.entries[key], before.entries[key]) })
	h.From = before.version
	return encode(h)
}

func (v *treeView) head(wanted func(key string) bool) head {
	h := head{
		Namespace: v.tree.Namespace(), ID: v.tree.ID(), Version: v.version, Now: stamp(v.at), Fence: v.snapshot.Fence,
		Holders: append([]string{}, v.holders...), Waiters: append([]string{}, v.waiters...), Entries: []json.RawMessage{},
	}
	for _, keys := range [][]string{v.holders, v.waiters} {
		for _, key := range keys {
			if wanted(key) {
				h.Entries = append(h.Entries, v.entries[key])
			}
		}
	}
	return h
}

// encode returns JSON. What it is given can always be encoded.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}
