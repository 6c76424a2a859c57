package admin

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// mostEdges is the most blockers that an entry names.
const mostEdges = 10

// treeView is a tree as the page shows it.
type treeView struct {
	Namespace string `json:"namespace"`
	ID        string `json:"id"`
	Fence     uint64 `json:"fence"`
	// Holders are in the order of their fences, and Waiters in that of their arrival.
	Holders []entry `json:"holders"`
	Waiters []entry `json:"waiters"`
}

// party is who holds, waits, or waited.
type party struct {
	Owner string `json:"owner"`
	Note  string `json:"note,omitempty"`
	pathlock.Origin
}

// entry is a grant or a queued request, whose Fence is 0.
type entry struct {
	Key    string `json:"key"`
	Holder string `json:"holder"`
	party
	Fence     uint64     `json:"fence"`
	Gate      bool       `json:"gate"`
	Detached  bool       `json:"detached"`
	Claims    []claim    `json:"claims"`
	Since     *time.Time `json:"since,omitempty"`
	Until     *time.Time `json:"until,omitempty"`
	WaitedFor int        `json:"waited_for,omitempty"`
	WaitsFor  []edge     `json:"waits_for,omitempty"`
	More      int        `json:"waits_for_more,omitempty"`
}

// claim is a node with the mode in which it is claimed.
type claim struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
}

// edge leads from a waiter to an entry in its way, and says where and in which mode that is.
type edge struct {
	Key  string `json:"key"`
	Gate bool   `json:"gate,omitempty"`
	claim
}

// view returns what to show of a snapshot.
func (p *page) view(s pathlock.Snapshot) treeView {
	v := treeView{Namespace: s.Tree.Namespace(), ID: s.Tree.ID(), Fence: s.Fence, Holders: []entry{}, Waiters: []entry{}}
	texts := p.newRedactor()
	keys := entryKeys(&s)
	blockers := s.Blockers()
	waitedFor := make(map[*pathlock.Entry]int)
	for _, all := range blockers {
		for _, b := range all {
			waitedFor[b.Entry]++
		}
	}
	show := func(h *pathlock.Entry, inTheWay []pathlock.Blocking) entry {
		e := entry{
			Key: keys[h], Holder: holderID(s.Tree, h.Owner), party: newParty(h.Owner, h.Note, h.Origin, texts), Fence: h.Fence,
			Gate: h.Gate, Detached: h.Detached, Claims: make([]claim, 0, len(h.Claims)), Since: stamp(h.Since), Until: stamp(h.Until),
			WaitedFor: waitedFor[h], More: max(len(inTheWay)-mostEdges, 0),
		}
		for _, c := range h.Claims {
			e.Claims = append(e.Claims, claim{texts.path(c.Path), c.Mode.String()})
		}
		for _, b := range inTheWay[:len(inTheWay)-e.More] {
			e.WaitsFor = append(e.WaitsFor, edge{keys[b.Entry], b.Entry.Gate || h.Gate, claim{texts.path(b.Path), b.Mode.String()}})
		}
		return e
	}
	for i := range s.Holders {
		v.Holders = append(v.Holders, show(&s.Holders[i], nil))
	}
	for i := range s.Waiters {
		v.Waiters = append(v.Waiters, show(&s.Waiters[i], blockers[i]))
	}
	return v
}

func newParty(owner pathlock.Owner, note string, o pathlock.Origin, texts *redactor) party {
	return party{owner.Short(), texts.note(note), o}
}

// holderID names an owner in a tree to those who may not know the owner itself. It is 80 bits of a
// hash, which nobody can turn back: an owner has 130 random bits. There is no key in it, so that
// all instances give a holder the same id.
func holderID(tree pathlock.Tree, owner pathlock.Owner) string {
	return hashed("pathlock admin\x00" + tree.Namespace() + "\x00" + tree.ID() + "\x00" + string(owner))
}

// entryKeys names each entry of a snapshot uniquely among all that its tree has and ever had. All
// instances give an entry the same key, and an owner's next request has another one. Equal waits of
// one owner that began at the same time share a key: nothing tells them apart.
func entryKeys(s *pathlock.Snapshot) map[*pathlock.Entry]string {
	keys := make(map[*pathlock.Entry]string, len(s.Holders)+len(s.Waiters))
	for _, all := range [][]pathlock.Entry{s.Holders, s.Waiters} {
		for i := range all {
			keys[&all[i]] = entryKey(s.Tree, &all[i])
		}
	}
	return keys
}

// entryKey names an entry by its fence, which no other grant has. A request that waits has none: it
// is named by when its wait began, and by a hash of what it asks for. That hash includes the owner,
// so that nobody can guess redacted names by trial.
func entryKey(tree pathlock.Tree, h *pathlock.Entry) string {
	holder := holderID(tree, h.Owner)
	if h.Fence != 0 {
		return holder + "-" + strconv.FormatUint(h.Fence, 36)
	}
	asks := string(h.Owner) + "\x00" + strconv.FormatBool(h.Gate)
	for _, c := range h.Claims {
		asks += "\x00" + c.Mode.String() + c.Path.String()
	}
	return holder + "-w" + strconv.FormatInt(h.Since.UnixMicro(), 36) + "-" + hashed(asks)[:8]
}

// hashed shortens a text that is only compared with others.
func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base32.StdEncoding.EncodeToString(sum[:10])
}

// hidden replaces a name that is redacted to nothing: without it, a node would look like the one
// above it.
const hidden = "…"

// redactor turns texts into those to show, and remembers the paths: most of them occur many times.
type redactor struct {
	redact func(text string, isNote bool) string
	paths  map[pathlock.Path]string
}

func (p *page) newRedactor() *redactor {
	return &redactor{redact: p.config.Redact, paths: make(map[pathlock.Path]string)}
}

// path returns a path with each of its names redacted.
func (s *redactor) path(p pathlock.Path) string {
	if p.IsRoot() {
		return "/"
	}
	text, ok := s.paths[p]
	if !ok {
		// A redacted name stays one name.
		text = strings.TrimSuffix(s.path(p.Parent()), "/") + "/" + cmp.Or(strings.ReplaceAll(s.redact(p.Base(), false), "/", "∕"), hidden)
		s.paths[p] = text
	}
	return text
}

// note returns a note, redacted.
func (s *redactor) note(note string) string {
	if note == "" {
		return ""
	}
	return s.redact(note, true)
}

// modeOf names a mode, or returns "" if none is known.
func modeOf(m pathlock.Mode) string {
	if !m.IsValid() {
		return ""
	}
	return m.String()
}
