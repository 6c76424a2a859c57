package storetest

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// matrix is the compatibility of two owners' modes on one node: Gray, Lorie, Putzolu and Traiger
// 1976, table 1. It is written down once more so that a store is not judged by the function that it
// uses.
const matrix = `
	     IS IX S  SIX X
	IS   +  +  +  +   -
	IX   +  +  -  -   -
	S    +  -  +  -   -
	SIX  +  -  -  -   -
	X    -  -  -  -   -`

// mayMeet reads matrix.
func mayMeet(a, b pathlock.Mode) bool {
	lines := strings.Split(strings.TrimSpace(matrix), "\n")
	columns := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		for i, column := range columns {
			if fields[0] == a.String() && column == b.String() {
				return fields[i+1] == "+"
			}
		}
	}
	panic(fmt.Sprintf("no mode %v or %v", a, b))
}

func compatibility() topic {
	return topic{"compatibility", []promise{
		{"all 25 pairs of modes on one node, above each other and below", func(f *fixture) {
			for _, places := range [][2]string{{"", ""}, {"", "/below"}, {"/far/below", ""}} {
				for _, held := range pathlock.Modes() {
					for _, asked := range pathlock.Modes() {
						node := fmt.Sprintf("/dir/%s-%s", held, asked)
						f.meet(claim(held, node+places[0]), claim(asked, node+places[1]))
					}
				}
			}
		}},
	}}
}

// meet requires that one owner is granted the first claim, and another the second one if and only
// if the two may meet.
func (f *fixture) meet(first, second pathlock.Claim) {
	f.Helper()
	holder := f.actor("holder").takes(first)
	defer holder.release()
	if !collide(first, second) {
		f.actor("asker").takes(second).release()
	} else if c := f.actor("asker").isRefused(second); c.Blocker.Owner != holder.owner {
		f.Errorf("%v beside %v: blocked by %q, want the holder", second, first, c.Blocker.Owner)
	}
}

func claim(mode pathlock.Mode, path string) pathlock.Claim {
	return pathlock.Claim{Path: pathlock.MustParsePath(path), Mode: mode}
}

// intention is what the definition of multi-granularity locking asks for on the ancestors.
func intention(m pathlock.Mode) pathlock.Mode {
	if m == pathlock.ModeIS || m == pathlock.ModeS {
		return pathlock.ModeIS
	}
	return pathlock.ModeIX
}
