// Package modes says which claims exclude each other, for those who judge locks: it shares no code
// with them.
package modes

import "github.com/pathlock-go/pathlock"

// together has the modes that two may have at once: Gray et al., 1976, table 1.
var together = map[[2]pathlock.Mode]bool{
	{pathlock.ModeIS, pathlock.ModeIS}: true, {pathlock.ModeIS, pathlock.ModeIX}: true, {pathlock.ModeIS, pathlock.ModeS}: true,
	{pathlock.ModeIS, pathlock.ModeSIX}: true, {pathlock.ModeIX, pathlock.ModeIX}: true, {pathlock.ModeS, pathlock.ModeS}: true,
}

// Meet says whether two owners may have two modes on one node.
func Meet(a, b pathlock.Mode) bool { return together[[2]pathlock.Mode{min(a, b), max(a, b)}] }

// Exclude says whether two owners cannot have both of two sets of claims. Whoever claims a node has
// an intention on all above it.
func Exclude(a, b []pathlock.Claim) bool {
	for _, x := range a {
		for _, y := range b {
			switch {
			case x.Path == y.Path && !Meet(x.Mode, y.Mode),
				x.Path != y.Path && x.Path.Contains(y.Path) && !Meet(x.Mode, intention(y.Mode)),
				x.Path != y.Path && y.Path.Contains(x.Path) && !Meet(intention(x.Mode), y.Mode):
				return true
			}
		}
	}
	return false
}

// intention is what a mode implies above it.
func intention(m pathlock.Mode) pathlock.Mode {
	if m == pathlock.ModeIS || m == pathlock.ModeS {
		return pathlock.ModeIS
	}
	return pathlock.ModeIX
}

// rights has what each mode allows, as bits: to read or to change something below, to read the
// whole node, to change it.
var rights = map[pathlock.Mode]int{pathlock.ModeIS: 1, pathlock.ModeIX: 3, pathlock.ModeS: 5, pathlock.ModeSIX: 7, pathlock.ModeX: 15}

// Cover says whether somebody who has all of the first claims has what the other one asks for.
func Cover(has []pathlock.Claim, asked pathlock.Claim) bool {
	lacks := rights[asked.Mode]
	for _, c := range has {
		switch given := rights[c.Mode]; {
		case c.Path == asked.Path || c.Mode == pathlock.ModeX && c.Path.Contains(asked.Path):
			lacks &^= given
		case c.Path.Contains(asked.Path) && given&4 != 0:
			lacks &^= rights[pathlock.ModeS]
		}
	}
	return lacks == 0
}
