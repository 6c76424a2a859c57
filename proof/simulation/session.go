package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// session is what a caller does under one scope, which the context carries: those of requests with
// OwnScope within others. In each tree it is somebody else, with a number.
type session struct {
	*world
	outer *session
	// only is the one tree of a scope that a request with OwnScope made.
	only pathlock.Tree
	// token is that of an attached hold, nil if there is none.
	token *token

	// The world's mutex guards what follows.
	ids map[pathlock.Tree]int
	// Of the outermost session: calls and locks, and the numbers that are over with the last.
	users int
	all   []int
	ended bool // the lock that Attach has returned
	gated bool // it has asked for a gate, which has no claims
	// swaps counts exchanges, and swapping those under way. swapped is when the last one ended.
	swaps, swapping int
	swapped         time.Time
}

// enter returns the session of a call in a tree under the context of s, or of no session.
func (w *world) enter(s *session, tree pathlock.Tree) *session {
	w.mu.Lock()
	defer w.mu.Unlock()
	own := tree == ownTree
	for at := s; at != nil; at = at.outer {
		if at.only == tree || at.only == (pathlock.Tree{}) && (!own || at.ids[tree] != 0) {
			return s
		}
	}
	inner := &session{world: w, outer: s, ids: make(map[pathlock.Tree]int)}
	if own {
		inner.only = tree
	}
	return inner
}

func (s *session) root() *session {
	for s.outer != nil {
		s = s.outer
	}
	return s
}

// of returns the session whose scope holds in a tree.
func (s *session) of(tree pathlock.Tree) *session {
	for s.only != tree && (s.only != (pathlock.Tree{}) || tree == ownTree && s.ids[tree] == 0) {
		s = s.outer
	}
	return s
}

// in returns who the session is in a tree.
func (s *session) in(tree pathlock.Tree) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, root := s.of(tree), s.root()
	if at.ids[tree] == 0 {
		s.calls++
		at.ids[tree] = s.calls
		root.all = append(root.all, s.calls)
	}
	return at.ids[tree]
}

// left notes that what the session was in a tree belongs to a token now, and returns who that is.
func (s *session) left(tree pathlock.Tree) (id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, root := s.of(tree), s.root()
	id, at.ids[tree] = at.ids[tree], 0
	root.all = slices.DeleteFunc(root.all, func(other int) bool { return other == id })
	return id
}

// use notes that there is one call or lock more, or less.
func (s *session) use(n int) {
	root := s.root()
	var all []int
	s.mu.Lock()
	if root.users += n; root.users == 0 {
		all, root.all = root.all, nil
	}
	s.mu.Unlock()
	for _, id := range all {
		s.finish(fmt.Sprint(id))
	}
}

// alone says whether there is no other call or lock.
func (s *session) alone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root().users == 1
}

// swap notes that an exchange begins or ends.
func (s *session) swap(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root := s.root()
	root.swaps++
	root.swapping += n
	root.swapped = time.Now()
}

// mayLose says whether what the session has in a tree may end without a fault.
func (s *session) mayLose(tree pathlock.Tree) bool {
	t := s.root().token
	return s.kind != quiet || s.isRevoked(s.in(tree)) || t != nil && t.tree == tree && (s.root().ended || !s.lasts(t, 100*time.Millisecond))
}

// partMark begins the names of what is acquired under an attached hold, in its tree.
const partMark = "+"

func (s *session) isPart(tree pathlock.Tree) bool {
	t := s.root().token
	return t != nil && t.tree == tree
}

// exchanges returns how many exchanges there were, how many are under way, and when the last ended.
func (s *session) exchanges() (all, underWay int, last time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root := s.root()
	return root.swaps, root.swapping, root.swapped
}

// scopeOf returns whose an entry is: the names of calls have its number.
func scopeOf(e pathlock.Entry) (scope int) {
	if parts := strings.Split(nameOf(e), "/"); len(parts) == 3 {
		scope, _ = strconv.Atoi(parts[1])
	}
	return scope
}
