package admin

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// namedPerCounted is how many trees the overview names for each that it counts.
const namedPerCounted = 10

// overview is all trees in which somebody holds or waits. It names more trees than it counts: see
// [Config.MaxTrees].
type overview struct {
	Trees []treeLine `json:"trees"`
	Total int        `json:"total"`
}

// treeLine is one tree of the overview.
type treeLine struct {
	Namespace    string     `json:"namespace"`
	ID           string     `json:"id"`
	Holders      *int       `json:"holders,omitempty"`
	Waiters      *int       `json:"waiters,omitempty"`
	HeldSince    *time.Time `json:"held_since,omitempty"`
	WaitingSince *time.Time `json:"waiting_since,omitempty"`
}

// lookAtTrees looks at all trees.
func (p *page) lookAtTrees(ctx context.Context) (view any, ahead time.Duration, err error) {
	trees, err := p.locks.Trees(ctx)
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(trees, func(a, b pathlock.Tree) int {
		return cmp.Or(cmp.Compare(a.Namespace(), b.Namespace()), cmp.Compare(a.ID(), b.ID()))
	})
	o := overview{Total: len(trees), Trees: []treeLine{}}
	counting := time.Now().Add(lookTimeout / 2) // from a store far away, not all can be counted in time
	for i, tree := range trees[:min(len(trees), namedPerCounted*p.config.MaxTrees)] {
		line := treeLine{Namespace: tree.Namespace(), ID: tree.ID()}
		if i < p.config.MaxTrees && time.Now().Before(counting) {
			s, err := p.locks.Snapshot(ctx, tree)
			if err != nil {
				return nil, 0, err
			}
			ahead = time.Until(s.Now)
			line.Holders, line.Waiters = new(len(s.Holders)), new(len(s.Waiters))
			line.HeldSince, line.WaitingSince = oldest(s.Holders), oldest(s.Waiters)
		}
		o.Trees = append(o.Trees, line)
	}
	return o, ahead, nil
}

// oldest returns when the first of the holds or waits began.
func oldest(all []pathlock.Entry) (first *time.Time) {
	for _, e := range all {
		if since := stamp(e.Since); since != nil && (first == nil || since.Before(*first)) {
			first = since
		}
	}
	return first
}

// stamp returns a time for JSON, nil for the zero time.
func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}

func (p *page) serveTrees(w http.ResponseWriter, r *http.Request) {
	p.serveLook(w, r, pathlock.Tree{}, 2*p.config.Poll, p.lookAtTrees)
}

func (p *page) serveTree(w http.ResponseWriter, r *http.Request) {
	tree, err := treeOf(r.URL.Query().Get("namespace"), r.URL.Query().Get("id"))
	if err != nil {
		fail(w, err)
		return
	}
	p.serveLook(w, r, tree, p.config.Poll, func(ctx context.Context) (any, time.Duration, error) {
		s, err := p.locks.Snapshot(ctx, tree)
		s.Tree = tree
		return p.view(s), time.Until(s.Now), err
	})
}

// serveLook answers with what a look has seen that is no older than every, or looks.
func (p *page) serveLook(w http.ResponseWriter, r *http.Request, tree pathlock.Tree, every time.Duration, look look) {
	view, ahead, err := p.cache.of(r.Context(), tree, every, look)
	if err == nil {
		answer(w, r, view, ahead)
		return
	}
	refused := problemOf(err)
	if l, ok := p.locks.(interface{ Degraded() time.Time }); ok && refused.Status == http.StatusServiceUnavailable {
		refused.DegradedSince = stamp(l.Degraded())
	}
	fail(w, refused)
}

// treeOf returns the tree that a request names.
func treeOf(namespace, id string) (pathlock.Tree, error) {
	tree, err := pathlock.NewTree(namespace, id)
	if err == nil {
		return tree, nil
	}
	if _, wrong := pathlock.NewTree(namespace, "-"); wrong != nil {
		return tree, invalid("namespace", "no tree has such a namespace: give 1 to 255 bytes without control characters")
	}
	return tree, invalid("id", "no tree has such an id: give 1 to 255 bytes without control characters")
}
