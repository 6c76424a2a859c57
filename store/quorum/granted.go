package quorum

import (
	"sync"
	"time"
)

// granted has the members that have granted each request of this process, so that one that is
// repeated gets the same fence. It is forgotten with the release, or when a lease has passed.
type granted struct {
	mu     sync.Mutex
	grants map[key]grantedBy
	// sweep is how many there have to be before those that have ended are looked for.
	sweep int
}

type grantedBy struct {
	members map[int]bool
	until   time.Time
}

// fewGrants is how many grants are not worth a look.
const fewGrants = 256

func (g *granted) add(k key, places []place, lease time.Duration) {
	members := make(map[int]bool, len(places))
	for _, p := range places {
		members[p.member.index] = true
	}
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.grants == nil {
		g.grants, g.sweep = make(map[key]grantedBy), fewGrants
	}
	if len(g.grants) >= g.sweep {
		for old, by := range g.grants {
			if now.After(by.until) {
				delete(g.grants, old)
			}
		}
		g.sweep = max(fewGrants, 2*len(g.grants))
	}
	g.grants[k] = grantedBy{members, now.Add(lease)}
}

// members returns who has granted a request, nil if it is not known.
func (g *granted) members(k key) map[int]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	by, ok := g.grants[k]
	if !ok || time.Now().After(by.until) {
		return nil
	}
	return by.members
}

func (g *granted) remove(k key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.grants, k)
}
