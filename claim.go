package pathlock

import "slices"

// Claim is a path and the mode in which it is claimed.
type Claim struct {
	Path Path `json:"path"`
	Mode Mode `json:"mode"`
}

// IS claims p in mode IS: something below p is read.
func IS(p Path) Claim { return Claim{p, ModeIS} }

// IX claims p in mode IX: something below p, or an attribute of p that no path
// depends on, is changed.
func IX(p Path) Claim { return Claim{p, ModeIX} }

// S claims p in mode S: the subtree of p is read and must not change.
func S(p Path) Claim { return Claim{p, ModeS} }

// SIX claims p in mode SIX: the subtree of p is read, and something below p is changed.
func SIX(p Path) Claim { return Claim{p, ModeSIX} }

// X claims p in mode X: the subtree of p, or the name slot p if there is no
// such node, is changed.
func X(p Path) Claim { return Claim{p, ModeX} }

// String returns mode and path: "X /dir1/dir2".
func (c Claim) String() string { return c.Mode.String() + " " + c.Path.String() }

// Normalize returns the claim set that claims stand for, as it is sent to a
// [Store]: every claim's intention on each of its ancestors up to the root, the
// supremum of the modes where a node is claimed more than once, ordered by
// [Path.Compare]. The result shares no memory with the argument.
func Normalize(claims ...Claim) []Claim {
	if len(claims) == 1 {
		return normalizeOne(claims[0])
	}
	nodes := 0
	for _, c := range claims {
		nodes += c.Path.Depth() + 1
	}
	all := slices.Grow([]Claim(nil), nodes)
	for _, c := range claims {
		intention := c.Mode.Intention()
		for a := range c.Path.Ancestors() {
			all = append(all, Claim{a, intention})
		}
		all = append(all, c)
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

// normalizeOne is Normalize for the most frequent claim set: one node, whose
// ancestors come in order and without repetition by themselves.
func normalizeOne(c Claim) []Claim {
	set := make([]Claim, 0, c.Path.Depth()+1)
	intention := c.Mode.Intention()
	for a := range c.Path.Ancestors() {
		set = append(set, Claim{a, intention})
	}
	return append(set, c)
}
