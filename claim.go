package pathlock

import "slices"

// Claim is a path and the mode in which it is claimed.
type Claim struct {
	Path Path `json:"path"`
	Mode Mode `json:"mode"`
}

// IS claims p in mode IS: something below p is read.
func IS(p Path) Claim { return Claim{p, ModeIS} }

// IX claims p in mode IX: something below p changes, or an attribute of p that no path depends on.
func IX(p Path) Claim { return Claim{p, ModeIX} }

// S claims p in mode S: the subtree of p is read and must not change.
func S(p Path) Claim { return Claim{p, ModeS} }

// SIX claims p in mode SIX: the subtree of p is read, and something below p changes.
func SIX(p Path) Claim { return Claim{p, ModeSIX} }

// X claims p in mode X: the subtree of p changes, or the name slot p if there is no such node.
func X(p Path) Claim { return Claim{p, ModeX} }

// String returns mode and path: "X /dir1/dir2".
func (c Claim) String() string { return c.Mode.String() + " " + c.Path.String() }

// Normalize returns the claim set that a [Store] gets for claims. It has each claim's intention on
// every ancestor up to the root, and the supremum of the modes where a node is claimed more than
// once. It is ordered by [Path.Compare], and shares no memory with the argument.
func Normalize(claims ...Claim) []Claim {
	nodes := 0
	for _, c := range claims {
		nodes += c.Path.Depth() + 1
	}
	all := make([]Claim, 0, nodes)
	for _, c := range claims {
		intention := c.Mode.Intention()
		for a := range c.Path.Ancestors() {
			all = append(all, Claim{a, intention})
		}
		all = append(all, c)
	}
	if len(claims) == 1 {
		return all // in order, and without repetition
	}
	slices.SortFunc(all, func(a, b Claim) int { return a.Path.Compare(b.Path) })
	set := all[:0]
	for _, c := range all {
		if n := len(set); n > 0 && set[n-1].Path == c.Path {
			set[n-1].Mode = Supremum(set[n-1].Mode, c.Mode)
			continue
		}
		set = append(set, c)
	}
	return set
}
