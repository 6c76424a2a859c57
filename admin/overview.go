package admin

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

const (
	// namedPerCounted is how many trees the overview names for each that it counts.
	namedPerCounted = 10
	// lookers is how many trees are looked at at once for the overview.
	lookers = 4
)

// overview is all trees in which somebody holds or waits.
type overview struct {
	Now       stamp      `json:"now"`
	Trees     []treeLine `json:"trees"`
	Total     int        `json:"total"`
	Truncated bool       `json:"truncated"`
}

// treeLine is one tree of the overview. What was not counted is nil.
type treeLine struct {
	Namespace   string `json:"namespace"`
	ID          string `json:"id"`
	Holders     *int   `json:"holders,omitempty"`
	Waiters     *int   `json:"waiters,omitempty"`
	LongestWait *int64 `json:"longest_wait_ms,omitempty"`
	OldestHold  *int64 `json:"oldest_hold_ms,omitempty"`

	// firstWait and firstHold are the moments that these are counted from.
	firstWait, firstHold time.Time
}

// same reports whether two lines differ at most in the time that has passed.
func (l treeLine) same(other treeLine) bool {
	return l.Namespace == other.Namespace && l.ID == other.ID && reflect.DeepEqual(l.Holders, other.Holders) &&
		reflect.DeepEqual(l.Waiters, other.Waiters) && l.firstWait.Equal(other.firstWait) && l.firstHold.Equal(other.firstHold)
}

// lookAtTrees looks at all trees.
func (p *Page) lookAtTrees(ctx context.Context, before any) (any, bool, error) {
	trees, err := p.locks.Trees(ctx)
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(trees, func(a, b pathlock.Tree) int {
		return cmp.Or(cmp.Compare(a.Namespace(), b.Namespace()), cmp.Compare(a.ID(), b.ID()))
	})
	o := &overview{Now: stamp(p.config.Now()), Total: len(trees), Trees: []treeLine{}}
	named := trees[:min(len(trees), namedPerCounted*p.config.MaxTrees)]
	o.Truncated = len(named) < len(trees)
	for _, tree := range named {
		o.Trees = append(o.Trees, treeLine{Namespace: tree.Namespace(), ID: tree.ID()})
	}
	if err := p.count(ctx, named[:min(len(named), p.config.MaxTrees)], o); err != nil {
		return nil, false, err
	}
	last, _ := before.(*overview)
	return o, last != nil && last.Total == o.Total && slices.EqualFunc(last.Trees, o.Trees, treeLine.same), nil
}

// count looks at the first trees of an overview.
func (p *Page) count(ctx context.Context, trees []pathlock.Tree, o *overview) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var looking sync.WaitGroup
	for range min(lookers, len(trees)) {
		looking.Go(func() {
			for i := range next {
				_, _, err := look(func(ctx context.Context, _ any) (any, bool, error) {
					s, err := p.locks.Snapshot(ctx, trees[i])
					if err == nil {
						o.Trees[i].fill(s, time.Time(o.Now))
					}
					return nil, false, err
				}).safely(ctx, nil)
				if err != nil {
					stop(err)
				}
			}
		})
	}
	for i := range trees {
		next <- i
	}
	close(next)
	looking.Wait()
	return context.Cause(ctx)
}

// fill counts a tree.
func (l *treeLine) fill(s pathlock.Snapshot, now time.Time) {
	l.Holders, l.Waiters = new(len(s.Holders)), new(len(s.Waiters))
	l.firstHold, l.OldestHold = oldest(s.Holders, now)
	l.firstWait, l.LongestWait = oldest(s.Waiters, now)
}

// oldest returns when the first of the holds or waits began, and how many milliseconds ago that is
// by this process's clock.
func oldest(all []pathlock.Entry, now time.Time) (first time.Time, ms *int64) {
	for _, h := range all {
		if !h.Since.IsZero() && (first.IsZero() || h.Since.Before(first)) {
			first = h.Since
		}
	}
	if first.IsZero() {
		return first, nil
	}
	return first, new(max(now.Sub(first).Milliseconds(), 0))
}

func (p *Page) serveTrees(w http.ResponseWriter, r *http.Request) {
	view, err := p.viewOf(r, feedKey{})
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, encode(view))
}

func (p *Page) serveTree(w http.ResponseWriter, r *http.Request) {
	tree, err := treeOf(r.URL.Query().Get("namespace"), r.URL.Query().Get("id"))
	if err != nil {
		fail(w, r, err)
		return
	}
	view, err := p.viewOf(r, tree)
	if err != nil {
		fail(w, r, err)
		return
	}
	v := view.(*treeView)
	answerUnlessKnown(w, r, v.version, v.whole)
}

// viewOf returns what a feed knows.
func (p *Page) viewOf(r *http.Request, key feedKey) (any, error) {
	f, err := p.join(key)
	if err != nil {
		return nil, err
	}
	defer f.leave()
	return f.first(r.Context(), p.ctx.Done())
}

// treeOf returns the tree that a request names.
func treeOf(namespace, id string) (pathlock.Tree, error) {
	tree, err := pathlock.NewTree(namespace, id)
	if err == nil {
		return tree, nil
	}
	if _, wrong := pathlock.NewTree(namespace, "-"); wrong != nil {
		return tree, invalid("namespace", "the namespace of no tree: 1 to 255 bytes without control characters")
	}
	return tree, invalid("id", "the id of no tree: 1 to 255 bytes without control characters")
}
