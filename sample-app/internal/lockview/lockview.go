// Package lockview shows the locks of a plan's tree as a page does: by suite.
package lockview

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// maxShown is how many holds, and how many waiters, a view has at most.
const maxShown = 500

// maxKnown is how many plans' suites a view remembers.
const maxKnown = 16

// Locks are the holds in a plan's tree, and the requests that wait.
type Locks struct {
	Holders []Hold `json:"holders"`
	Waiters []Hold `json:"waiters"`
	// Truncated says that there are more of them.
	Truncated bool `json:"truncated,omitempty"`
}

// Hold is one hold, or one request that waits.
type Hold struct {
	// Fence tells the holds of a plan apart. It is a string, since scripts round large numbers.
	Fence uint64 `json:"fence,string,omitempty"`
	// What is the note, which says what the lock is for.
	What string `json:"what"`
	// Gate says that the whole plan is held or waited for.
	Gate bool `json:"gate,omitempty"`
	// Detached says that the hold outlives the request that took it.
	Detached bool `json:"detached,omitempty"`
	// Claims are the claims, without those that only announce others below them.
	Claims []Claim   `json:"claims"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
}

// Claim is what is held of one node.
type Claim struct {
	// SuiteID is the suite that is claimed, or the one in which the claimed name or case is.
	SuiteID int64 `json:"suite_id"`
	// Exact says that the suite itself is claimed.
	Exact bool `json:"exact"`
	// Path is the claimed path, as locks spell it: in lower case, among others.
	Path string        `json:"path"`
	Mode pathlock.Mode `json:"mode"`
}

// Suites knows the suites of plans. Revision changes whenever Tree does.
type Suites interface {
	Tree(ctx context.Context, plan int64) ([]model.Suite, error)
}

// View shows the locks of plans.
type View struct {
	locker    *pathlock.Locker
	suites    Suites
	revision  func(ctx context.Context, plan int64) (int64, error)
	namespace string

	mu    sync.Mutex
	known map[int64]*places
}

// places are a plan's suites by their folded paths.
type places struct {
	revision int64
	ids      map[pathlock.Path]int64
}

// New returns a view of the locks in the trees of a namespace, whose ids are the plans'. revision
// counts the changes of a plan.
func New(locker *pathlock.Locker, suites Suites, revision func(context.Context, int64) (int64, error), namespace string) *View {
	return &View{locker: locker, suites: suites, revision: revision, namespace: namespace, known: map[int64]*places{}}
}

// JSON returns the locks of a plan as JSON. It is equal while nothing changes.
func (v *View) JSON(ctx context.Context, plan int64) ([]byte, error) {
	locks, err := v.Of(ctx, plan)
	if err != nil {
		return nil, err
	}
	return json.Marshal(locks)
}

// Of returns the locks of a plan.
func (v *View) Of(ctx context.Context, plan int64) (Locks, error) {
	tree, err := pathlock.NewTree(v.namespace, strconv.FormatInt(plan, 10))
	if err != nil {
		return Locks{}, err
	}
	snapshot, err := v.locker.Snapshot(ctx, tree)
	if err != nil {
		return Locks{}, fmt.Errorf("the locks of plan %d: %w", plan, err)
	}
	locks := Locks{Holders: []Hold{}, Waiters: []Hold{}}
	if len(snapshot.Holders)+len(snapshot.Waiters) == 0 {
		return locks, nil
	}
	at, err := v.placesOf(ctx, plan)
	if err != nil {
		return locks, err
	}
	locks.Holders = shown(snapshot.Holders, at)
	locks.Waiters = shown(snapshot.Waiters, at)
	locks.Truncated = len(snapshot.Holders) > maxShown || len(snapshot.Waiters) > maxShown
	return locks, nil
}

// placesOf returns the suites of a plan. It reads them again if the plan has changed.
func (v *View) placesOf(ctx context.Context, plan int64) (map[pathlock.Path]int64, error) {
	revision, err := v.revision(ctx, plan)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.known[plan]; p != nil && p.revision == revision {
		return p.ids, nil
	}
	suites, err := v.suites.Tree(ctx, plan)
	if err != nil {
		return nil, err
	}
	ids := make(map[pathlock.Path]int64, len(suites))
	for _, s := range suites {
		path := pathlock.Root()
		if s.Path != "" {
			if path, err = pathlock.ParsePath(s.Path); err != nil {
				continue // a tree without protection can have such rows
			}
		}
		if path, err = v.locker.Folded(path); err == nil {
			ids[path] = s.ID
		}
	}
	if len(v.known) >= maxKnown {
		clear(v.known)
	}
	v.known[plan] = &places{revision, ids}
	return ids, nil
}

// shown returns holds as the view shows them.
func shown(holds []pathlock.Entry, at map[pathlock.Path]int64) []Hold {
	all := []Hold{}
	for _, h := range holds[:min(len(holds), maxShown)] {
		one := Hold{
			Fence: h.Fence, What: h.Note, Gate: h.Gate, Detached: h.Detached,
			Since: h.Since.UTC(), Until: h.Until.UTC(), Claims: []Claim{},
		}
		for _, c := range h.Claims {
			if c.Mode != pathlock.ModeIS && (c.Mode != pathlock.ModeIX || !announces(h.Claims, c.Path)) {
				one.Claims = append(one.Claims, place(c, at))
			}
		}
		all = append(all, one)
	}
	return all
}

// announces reports whether claims have one below path, which an intention on path announces.
func announces(claims []pathlock.Claim, path pathlock.Path) bool {
	for _, c := range claims {
		if c.Path != path && path.Contains(c.Path) {
			return true
		}
	}
	return false
}

// place finds the suite of a claim.
func place(c pathlock.Claim, at map[pathlock.Path]int64) Claim {
	shown := Claim{Path: c.Path.String(), Mode: c.Mode}
	for path, exact := c.Path, true; ; path, exact = path.Parent(), false {
		if id, ok := at[path]; ok {
			shown.SuiteID, shown.Exact = id, exact
			return shown
		}
		if path == pathlock.Root() {
			return shown
		}
	}
}
