package queue

import (
	"iter"
	"math/bits"
)

// Mode is a lock mode of multi-granularity locking.
type Mode uint8

// The modes, from the weakest to the strongest. 0 claims nothing.
const (
	IS Mode = iota + 1
	IX
	S
	SIX
	X
)

// modes is a set of modes, with a bit for each.
type modes uint8

// incompatible has, for each mode, those that another owner may not have on the same node. The
// table is that of Gray, Lorie, Putzolu and Traiger, 1976, table 1.
var incompatible = [X + 1]modes{
	IS:  1 << X,
	IX:  1<<S | 1<<SIX | 1<<X,
	S:   1<<IX | 1<<SIX | 1<<X,
	SIX: 1<<IX | 1<<S | 1<<SIX | 1<<X,
	X:   1<<IS | 1<<IX | 1<<S | 1<<SIX | 1<<X,
}

// Compatible reports whether two owners may have a and b on one node at once.
func Compatible(a, b Mode) bool { return incompatible[a]&(1<<b) == 0 }

// claims are the granted or the waiting claims on one node, by mode.
type claims struct {
	modes modes // those whose lists have elements
	lists [X + 1]list
}

func (s *claims) add(c *claim) {
	s.modes |= 1 << c.mode
	s.lists[c.mode].add(c)
}

func (s *claims) remove(c *claim) {
	l := &s.lists[c.mode]
	if l.remove(c); l.first == nil {
		s.modes &^= 1 << c.mode
	}
}

// against yields the lists with elements of the modes that are incompatible with c's.
func (s *claims) against(c *claim) iter.Seq[*list] {
	return func(yield func(*list) bool) {
		for some := s.modes & incompatible[c.mode]; some != 0; some &= some - 1 {
			if !yield(&s.lists[bits.TrailingZeros8(uint8(some))]) {
				return
			}
		}
	}
}
