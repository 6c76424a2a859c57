package etcdstore

import (
	"maps"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// sightings are the tickets of other processes that this process has seen, in the trees in which it
// has tickets itself. Whoever gives a ticket longer to live writes it again. So if a ticket has not
// been written since this process saw it first, and that is as long ago as its lease was when it
// was written, its lease has ended, whatever the time is by any clock.
//
// etcd ends the tickets of dead processes too, but later: its leases last for whole seconds, two at
// least, and it looks for those that have ended twice a second.
type sightings struct {
	mu    sync.Mutex
	trees map[pathlock.Tree]map[string]sighting
}

// sighting is when a ticket was seen first, as it was at a revision.
type sighting struct {
	modified int64
	first    time.Time
}

func newSightings() *sightings {
	return &sightings{trees: map[pathlock.Tree]map[string]sighting{}}
}

// add notes what is in a reading, in place of what was seen before.
func (s *sightings) add(r *reading, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.trees[r.tree]
	seen := make(map[string]sighting, len(r.records))
	for _, rec := range r.records {
		one := sighting{modified: rec.modified, first: now}
		if old, ok := before[rec.key]; ok && old.modified == rec.modified {
			one = old
		}
		seen[rec.key] = one
	}
	s.trees[r.tree] = seen
}

// first returns when a ticket was seen first.
func (s *sightings) first(tree pathlock.Tree, rec *record, now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.trees[tree][rec.key]; ok && one.modified == rec.modified {
		return one.first
	}
	return now
}

// carry notes that this process has written tickets, by key, without giving them longer to live:
// each ends with the ticket that was read in its value.
func (s *sightings) carry(tree pathlock.Tree, written map[string]*record, revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.trees[tree]
	carried := make(map[string]sighting, len(written))
	for key, source := range written {
		if one, ok := seen[source.key]; ok && one.modified == source.modified {
			carried[key] = sighting{modified: revision, first: one.first}
		}
	}
	maps.Copy(seen, carried)
}

// forget forgets a tree.
func (s *sightings) forget(tree pathlock.Tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.trees, tree)
}
