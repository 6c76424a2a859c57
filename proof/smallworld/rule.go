// Package smallworld explores all that can happen in a small world: three owners, and the nodes /a,
// /a/b and /a/c with all modes, and the gate. It states the rule of the queue as predicates over
// states, from the definitions in storetest's doc.go, and compares what internal/queue and the
// scripts of store/redisstore do with it.
package smallworld

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/proof/modes"
)

// A world is explored with so many owners and requests at once, and random things are done in one
// with a few more.
const (
	owners     = 3
	most       = 6
	manyOwners = 5
	many       = 12
)

// ask is what somebody can ask for.
type ask struct {
	gate   bool
	claims []pathlock.Claim // as written, without intentions
	twin   uint8            // the ask with /a/b and /a/c exchanged
}

// asks are all single claims, the gate, and the two names that a rename claims.
var asks = func() (all []ask) {
	at := func(path string, m pathlock.Mode) pathlock.Claim {
		return pathlock.Claim{Path: pathlock.MustParsePath(path), Mode: m}
	}
	for i, m := range pathlock.Modes() {
		n := uint8(3 * i)
		all = append(all, ask{claims: []pathlock.Claim{at("/a", m)}, twin: n},
			ask{claims: []pathlock.Claim{at("/a/b", m)}, twin: n + 2}, ask{claims: []pathlock.Claim{at("/a/c", m)}, twin: n + 1})
	}
	n := uint8(len(all))
	return append(all, ask{gate: true, twin: n}, ask{claims: []pathlock.Claim{at("/a/b", pathlock.ModeX), at("/a/c", pathlock.ModeX)}, twin: n + 1})
}()

// everything is all asks, and few those whose worlds can be explored whole with more requests: IS
// and S on /a, X on /a/b, on /a/c and on both, and the gate. They are sets of bits.
const (
	everything = 1<<17 - 1
	few        = 1<<0 | 1<<6 | 1<<13 | 1<<14 | 1<<15 | 1<<16
)

// collides has the bits of the asks of others that an ask excludes.
var collides = func() (table [32]uint32) {
	for i, a := range asks {
		for j, b := range asks {
			if a.gate || b.gate || modes.Exclude(a.claims, b.claims) {
				table[i] |= 1 << j
			}
		}
	}
	return table
}()

// request is one in a state.
type request struct {
	owner, ask uint8
	granted    bool
	watches    uint8 // the place in the state of the request that a waiting one watches, or none
}

const none = many

// state is who holds, and who waits, in order of arrival: the granted ones come first.
type state []request

// set is a set of places in a state.
type set uint16

func (s set) has(i int) bool { return s&(1<<i) != 0 }

// all yields the places in a set.
func (s set) all(yield func(int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros16(uint16(s))) {
			return
		}
	}
}

// look is a state with what follows from it.
type look struct {
	state
	granted, waiting set
	of               [manyOwners]set // by owner
	against          [many + 1]set   // what a request conflicts with
	passes           [many + 1]set   // the earlier waiters that a waiting request need not wait for
	waitsFor         [manyOwners]set // the requests that wait for an owner
}

// lookAt judges a state. Who may pass whom is decided in order of arrival: later requests of
// holders count as behind nobody while an earlier one is judged.
func lookAt(s state) (l look) {
	l.state = s
	for i, r := range s {
		l.of[r.owner] |= 1 << i
		if r.granted {
			l.granted |= 1 << i
		} else {
			l.waiting |= 1 << i
		}
	}
	for i, r := range s {
		for j, other := range s {
			if r.owner != other.owner && collides[r.ask]&(1<<other.ask) != 0 {
				l.against[i] |= 1 << j
			}
		}
	}
	for i := range l.waiting.all {
		if l.holds(s[i].owner) {
			l.passes[i] = l.before(i) & l.waiters(s[i].owner, i)
		}
	}
	for o := range uint8(manyOwners) {
		l.waitsFor[o] = l.waiters(o, len(s))
	}
	return l
}

func (l *look) holds(o uint8) bool { return l.of[o]&l.granted != 0 }

// before returns the earlier waiters that a waiting request conflicts with.
func (l *look) before(i int) set { return l.against[i] & l.waiting & (1<<i - 1) }

// inTheWay returns the holders and the waiters that a waiting request is kept back by.
func (l *look) inTheWay(i int) set {
	return l.against[i]&l.granted | l.before(i)&^l.passes[i]
}

// waiters returns the requests that wait for an owner: those that conflict with what it holds, or
// with what a holder that waits for it has, and those behind a request that waits for it. Requests
// of holders that came after limit count as behind nobody.
func (l *look) waiters(o uint8, limit int) (found set) {
	for grew := l.holds(o); grew; {
		grew = false
		for i := range (l.waiting &^ l.of[o] &^ found).all {
			waits := false
			for h := range (l.against[i] & l.granted).all {
				waits = waits || l.state[h].owner == o || l.of[l.state[h].owner]&found != 0
			}
			if late := i > limit && l.holds(l.state[i].owner); !late {
				waits = waits || l.before(i)&^l.passes[i]&found != 0
			}
			if waits {
				found |= 1 << i
				grew = true
			}
		}
	}
	return found
}

// deadlock says whether a waiting request would never end: a holder in its way waits for its owner.
func (l *look) deadlock(i int) bool {
	for h := range (l.against[i] & l.granted).all {
		if l.of[l.state[h].owner]&l.waitsFor[l.state[i].owner] != 0 {
			return true
		}
	}
	return false
}

// circle says whether somebody waits in a circle: a request waits for those in its way and, if one
// of these is a holder, for what that holder waits for.
func (l *look) circle() bool {
	left := l.waiting
	for shrank := true; shrank; { // take away whoever waits for nobody who waits
		shrank = false
		for i := range left.all {
			next := l.inTheWay(i) & l.waiting
			for h := range (l.against[i] & l.granted).all {
				next |= l.of[l.state[h].owner] & l.waiting
			}
			if next&left == 0 {
				left &^= 1 << i
				shrank = true
			}
		}
	}
	return left != 0
}

// violated returns which predicate does not hold in a state, nil if all do.
func (l *look) violated() error {
	for i := range l.granted.all {
		if l.against[i]&l.granted != 0 {
			return errors.New("two owners hold what conflicts")
		}
	}
	for i := range l.waiting.all {
		switch w := l.state[i].watches; {
		case l.inTheWay(i) == 0:
			return errors.New("a waiter could be let in, and is not")
		case w != none && !l.inTheWay(i).has(int(w)):
			return errors.New("a waiter watches somebody who is not in its way: nobody would wake it")
		case l.deadlock(i):
			return errors.New("a deadlock waits")
		}
	}
	if l.circle() {
		return errors.New("somebody waits in a circle")
	}
	return nil
}

// settle grants, in order of arrival, whoever may be granted, and refuses the waiting requests of
// an owner that a grant to it has made deadlocks. It says what it finds wrong on the way.
func settle(s state) (next state, wrong string) {
	for {
		l := lookAt(s)
		first := -1
		for i := range l.waiting.all {
			if l.inTheWay(i) == 0 {
				first = i
				break
			}
		}
		if first < 0 {
			return s, wrong
		}
		r := s[first]
		if passed := l.before(first) &^ l.waitsFor[r.owner]; passed != 0 {
			wrong = "somebody is passed by an owner that it does not wait for"
		}
		r.granted = true
		s = slices.Insert(slices.Delete(slices.Clone(s), first, first+1), 0, r)
		for i := 0; i < len(s); i++ {
			if s[i].owner != r.owner || s[i].granted {
				continue
			}
			if l := lookAt(s); l.deadlock(i) {
				s = slices.Delete(s, i, i+1)
				i--
			}
		}
	}
}
