package sqlstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// sweeper removes what nobody else would: the rows of trees that have been empty for a while, and
// tickets that ended long ago in trees that nobody uses any more. It runs after updates, and not
// more often than once in a while.
type sweeper struct {
	backend *backend
	work    *work

	mu   sync.Mutex
	next time.Time
	runs bool
}

// atOnce is how many trees one statement of the sweeper looks for, and perSweep how many it does.
const (
	atOnce   = 100
	perSweep = 10
)

func newSweeper(b *backend, w *work) *sweeper {
	return &sweeper{backend: b, work: w, next: time.Now().Add(b.sweep)}
}

// due sweeps if it is time.
func (s *sweeper) due() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs || time.Now().Before(s.next) {
		return
	}
	s.runs = s.work.start(func(ctx context.Context) {
		// What fails is done by the next sweep, or by another process's.
		_ = s.sweep(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.runs, s.next = false, time.Now().Add(s.backend.sweep)
	})
}

// sweep removes what is old.
func (s *sweeper) sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.backend.timeout)
	defer cancel()
	now, err := s.backend.engine.clock(ctx)
	if err != nil {
		return err
	}
	old := now - s.backend.keep.Microseconds()
	if err := s.clearAbandoned(ctx, old); err != nil {
		return err
	}
	for range perSweep {
		n, err := s.removeEmpty(ctx, old)
		if err != nil || n < atOnce {
			return err
		}
	}
	return nil
}

// clearAbandoned removes tickets that ended before a time.
func (s *sweeper) clearAbandoned(ctx context.Context, old int64) error {
	trees, err := s.backend.treesOf(ctx, "abandoned", old, atOnce)
	if err != nil {
		return err
	}
	for _, tree := range trees {
		err := s.backend.Update(ctx, tree, func(state ticketstore.State) ticketstore.Changes {
			c := ticketstore.Changes{Fence: state.Fence}
			for _, t := range state.Tickets {
				if micros(t.Ends()) < old {
					c.Delete = append(c.Delete, t)
				}
			}
			return c
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeEmpty removes the rows of trees that have been empty since a time. It returns how many it
// found.
func (s *sweeper) removeEmpty(ctx context.Context, old int64) (n int, err error) {
	type row struct {
		tree    []byte
		version int64
	}
	var found []row
	r, err := s.backend.engine.query(ctx, "empty", old, old, atOnce)
	if err != nil {
		return 0, err
	}
	for r.Next() {
		var one row
		if err := r.Scan(&one.tree, &one.version); err != nil {
			return 0, errors.Join(err, r.Close())
		}
		found = append(found, one)
	}
	if err := errors.Join(r.Err(), r.Close()); err != nil {
		return 0, err
	}
	for _, one := range found {
		if err := s.backend.engine.exec(ctx, "tree_delete", one.tree, one.version); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}
