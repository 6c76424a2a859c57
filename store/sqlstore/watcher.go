package sqlstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// watcher learns for all waiters of this process when their waits are over. A waiter holds no
// connection: one statement asks for all trees that have changed since they were looked at. While
// the process listens for the database's notifications, it asks only every second, in case a
// notification is lost, and when a waiter is new: its notification may have come before the wait.
type watcher struct {
	backend *backend

	mu      sync.Mutex
	watches map[treeKey]map[*watch]struct{}
	// versions are those of the trees as they were looked at, 0 before.
	versions map[treeKey]int64
	// runs says that the goroutine runs, and listening that the process listens for notifications.
	runs, listening bool
	// ring makes the goroutine look now.
	ring chan struct{}
	// listen starts to listen for notifications, nil if the database has none.
	listen func()
}

// watch is one call of Watch.
type watch struct {
	place, looks uint64
	wake         func() // ends the call
}

func newWatcher(b *backend) *watcher {
	return &watcher{
		backend: b, ring: make(chan struct{}, 1),
		watches: make(map[treeKey]map[*watch]struct{}), versions: make(map[treeKey]int64),
	}
}

// watch adds a watch, and returns what ends it.
func (w *watcher) watch(tree treeKey, one *watch) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.runs {
		w.runs = true
		w.backend.running.Go(func() { w.run(w.backend.life) })
	}
	if w.listen != nil {
		w.listen()
		w.listen = nil
	}
	if w.watches[tree] == nil {
		w.watches[tree] = make(map[*watch]struct{})
	}
	w.watches[tree][one] = struct{}{}
	w.versions[tree] = 0
	w.look()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watches[tree], one)
		if len(w.watches[tree]) == 0 {
			delete(w.watches, tree)
			delete(w.versions, tree)
		}
	}
}

// look makes the goroutine look now.
func (w *watcher) look() {
	select {
	case w.ring <- struct{}{}:
	default:
	}
}

// wake wakes those who watch the tickets of messages.
func (w *watcher) wake(messages ...message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range messages {
		for one := range w.watches[m.tree] {
			if one.place == m.place {
				one.wake()
			}
		}
	}
}

// setListening notes whether the process listens from now on. It looks at once, because earlier
// notifications may have been missed.
func (w *watcher) setListening(listening bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listening = listening
	w.look()
}

// run looks until nobody waits, or the store is closed.
func (w *watcher) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause, ring := w.backend.pollFrom, w.ring
	for {
		select {
		case <-timer.C:
		case <-ring:
		case <-ctx.Done():
		}
		versions, listening := w.begin(ctx)
		if versions == nil {
			return
		}
		changed, err := w.find(ctx, versions)
		ring = w.ring
		switch {
		case err != nil:
			pause, ring = 4*w.backend.pollTo, nil
		case changed:
			pause = w.backend.pollFrom
		default:
			pause = min(pause+pause/4, w.backend.pollTo)
		}
		if listening && err == nil {
			timer.Reset(w.backend.pollListening)
		} else {
			timer.Reset(pause)
		}
	}
}

// begin returns the versions of the trees to look at, nil if the goroutine is to end.
func (w *watcher) begin(ctx context.Context) (versions map[treeKey]int64, listening bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil || len(w.watches) == 0 {
		w.runs = false
		return nil, false
	}
	return maps.Clone(w.versions), w.listening
}

// find looks at the trees that have other versions, and reports whether there are any.
func (w *watcher) find(ctx context.Context, versions map[treeKey]int64) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.backend.timeout)
	defer cancel()
	for some := range slices.Chunk(slices.Collect(maps.Keys(versions)), mostTrees) {
		found, err := w.findAmong(ctx, some, versions)
		changed = changed || found
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// mostTrees is how many trees one statement looks at: SQLite takes no condition of 1,000 terms, and
// before version 3.32 no more than 999 arguments.
const mostTrees = 400

// findAmong is find for some of the trees.
func (w *watcher) findAmong(ctx context.Context, some []treeKey, versions map[treeKey]int64) (changed bool, err error) {
	var args []any
	for _, tree := range some {
		args = append(args, tree[:], versions[tree])
	}
	others := strings.TrimPrefix(strings.Repeat(" OR tree = ? AND version <> ?", len(some)), " OR ")
	table := w.backend.table
	rows, err := table.QueryContext(ctx, table.text("SELECT tree, version, tickets FROM {table} WHERE "+others), args...)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var key, text []byte
		var version int64
		if err := rows.Scan(&key, &version, &text); err != nil {
			return changed, err
		}
		list, err := table.decoder.Decode(text)
		if err != nil {
			return changed, err
		}
		changed = true
		w.wakeChanged(treeKey(key), versions[treeKey(key)], version, list.Tickets)
	}
	return changed, rows.Err()
}

// wakeChanged wakes the watches whose tickets have changed in the next version of a tree.
func (w *watcher) wakeChanged(tree treeKey, before, version int64, tickets []ticketstore.Ticket) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.versions[tree] == before {
		w.versions[tree] = version
	}
	still := make(map[uint64]uint64)
	for _, t := range tickets {
		if t.State == ticketstore.Waiting {
			still[t.Place] = t.Looks
		}
	}
	for one := range w.watches[tree] {
		if looks, waits := still[one.place]; !waits || looks != one.looks {
			one.wake()
		}
	}
}
