package smallworld

import (
	"fmt"
	"slices"
	"strings"
)

// command is something that may happen.
type command struct {
	what  byte  // one of the below
	owner uint8 // for all but end
	ask   uint8 // of take; the place of the request for end; the heir for move
}

const (
	take  = 't' // an owner asks
	end   = 'e' // a grant is released, or its own lease ends; a waiter gives up, or its place ends
	evict = 'x' // an owner's lease ends, or somebody takes everything away by force
	move  = 'm' // a transfer to an owner that takes no part
)

// commands returns everything that may happen in a state, with so many owners, and at most so many
// requests at once, of those that may be asked.
func (s state) commands(owners uint8, most int, may uint32) (all []command) {
	var part [manyOwners]bool // who takes part
	var asked [manyOwners]uint32
	for i, r := range s {
		part[r.owner] = true
		asked[r.owner] |= 1 << r.ask
		all = append(all, command{end, 0, uint8(i)})
	}
	idle := slices.Index(part[:owners], false)
	for o := range owners {
		if part[o] {
			all = append(all, command{evict, o, 0})
		}
		holds := slices.ContainsFunc(s, func(r request) bool { return r.owner == o && r.granted })
		if holds && idle >= 0 {
			all = append(all, command{move, o, uint8(idle)})
		}
	}
	for o := range owners {
		for a := range uint8(len(asks)) {
			if len(s) < most && may&^asked[o]&(1<<a) != 0 {
				all = append(all, command{take, o, a})
			}
		}
	}
	return all
}

// after returns the state after a command, by the rule. refused says that an ask is a deadlock.
func (before *look) after(c command) (next state, refused bool, wrong string) {
	s := append(make(state, 0, many+1), before.state...)
	switch c.what {
	case take:
		s = append(s, request{owner: c.owner, ask: c.ask, watches: none})
		l, last := lookAt(s), len(s)-1
		if l.inTheWay(last) != 0 {
			// Whom the others may pass counts as it was: if one more waiter would let somebody
			// pass, it closes a circle.
			passes := l.passes[last]
			l.passes, l.waitsFor = before.passes, before.waitsFor
			l.passes[last] = passes
			refused = l.deadlock(last)
			if refused != l.circle() {
				wrong = "a deadlock is not a circle, or the other way round"
			}
			if refused {
				return s[:last], true, wrong
			}
		}
	case end:
		s = slices.Delete(s, int(c.ask), int(c.ask)+1)
	case evict:
		s = slices.DeleteFunc(s, func(r request) bool { return r.owner == c.owner })
	case move:
		for i := range s {
			if s[i].owner == c.owner && s[i].granted {
				s[i].owner = c.ask
			}
		}
	}
	next, passed := settle(s)
	return next, false, wrong + passed
}

func (s state) String() string {
	var b strings.Builder
	for i, r := range s {
		what := "waits for"
		if r.granted {
			what = "holds"
		}
		a := asks[r.ask]
		fmt.Fprintf(&b, "  %d: owner %d %s %v", i, r.owner, what, a.claims)
		if a.gate {
			b.WriteString("the gate")
		}
		if !r.granted && r.watches != none {
			fmt.Fprintf(&b, ", and watches %d", r.watches)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (c command) String() string {
	switch c.what {
	case take:
		return fmt.Sprintf("owner %d asks for %v (gate: %v)", c.owner, asks[c.ask].claims, asks[c.ask].gate)
	case end:
		return fmt.Sprintf("request %d ends", c.ask)
	case evict:
		return fmt.Sprintf("everything is taken from owner %d", c.owner)
	default:
		return fmt.Sprintf("owner %d hands over to owner %d", c.owner, c.ask)
	}
}
