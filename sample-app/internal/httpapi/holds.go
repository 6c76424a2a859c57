package httpapi

import (
	"slices"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock"
)

// maxShown is how many holds, and how many waiters, a view has at most.
const maxShown = 500

// Locks are the holds in a plan's tree, and the requests that wait.
type Locks struct {
	// Revision is the plan's, which windows ask for again and again.
	Revision uint32 `json:"revision"`
	// Now is the time of the view by the lock store's clock, like the other times.
	Now     time.Time `json:"now"`
	Holders []Hold    `json:"holders"`
	Waiters []Hold    `json:"waiters"`
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
	Gate bool `json:"gate"`
	// Detached says that the hold outlives the request that took it.
	Detached bool `json:"detached"`
	// Claims are the claims, without those that only announce others below them.
	Claims []Claim `json:"claims"`
	// Since and Until are left out if the lock store does not know them, as of a gate that another
	// program has taken.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
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

// planLocks answers who holds what in a plan.
func (a *api) planLocks(r request) (any, error) {
	plan, err := a.Service.Plan(r.ctx, r.id)
	if err != nil {
		return nil, err
	}
	locks := Locks{Holders: []Hold{}, Waiters: []Hold{}}
	if locks.Revision, err = a.Service.Revision(r.ctx, plan); err != nil {
		return nil, err
	}
	tree, err := pathlock.NewTree(a.Namespace, strconv.FormatInt(plan.ID, 10))
	if err != nil {
		return nil, err
	}
	snapshot, err := a.Locker.Snapshot(r.ctx, tree)
	locks.Now = snapshot.Now.UTC()
	if err != nil || len(snapshot.Holders)+len(snapshot.Waiters) == 0 {
		return locks, err
	}
	locks.Truncated = len(snapshot.Holders) > maxShown || len(snapshot.Waiters) > maxShown
	holders, waiters := first(snapshot.Holders), first(snapshot.Waiters)
	var paths []pathlock.Path
	for _, h := range slices.Concat(holders, waiters) {
		for _, c := range h.Claims {
			paths = append(paths, c.Path)
		}
	}
	at, err := a.Service.Places(r.ctx, plan, paths, a.Locker.Folded)
	if err != nil {
		return locks, err
	}
	locks.Holders, locks.Waiters = viewed(holders, at), viewed(waiters, at)
	return locks, nil
}

// first returns those that are shown, without claims that only announce others below them.
func first(entries []pathlock.Entry) []pathlock.Entry {
	entries = slices.Clone(entries[:min(len(entries), maxShown)])
	for i, h := range entries {
		entries[i].Claims = slices.DeleteFunc(slices.Clone(h.Claims), func(c pathlock.Claim) bool {
			return c.Mode == pathlock.ModeIS || c.Mode == pathlock.ModeIX && announces(h.Claims, c.Path)
		})
	}
	return entries
}

// viewed returns holds as the view shows them.
func viewed(holds []pathlock.Entry, at map[pathlock.Path]int64) []Hold {
	all := []Hold{}
	for _, h := range holds {
		one := Hold{
			Fence: h.Fence, What: h.Note, Gate: h.Gate, Detached: h.Detached,
			Since: h.Since.UTC(), Until: h.Until.UTC(), Claims: []Claim{},
		}
		for _, c := range h.Claims {
			one.Claims = append(one.Claims, place(c, at))
		}
		all = append(all, one)
	}
	return all
}

// announces reports whether claims have one below path, which an intention on path announces.
func announces(claims []pathlock.Claim, path pathlock.Path) bool {
	return slices.ContainsFunc(claims, func(c pathlock.Claim) bool { return c.Path != path && path.Contains(c.Path) })
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
