package pathlock

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/internal/queue"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Mode is one of the five modes of multi-granularity locking (Gray, Lorie, Putzolu and Traiger,
// "Granularity of Locks and Degrees of Consistency in a Shared Data Base", 1976). The zero Mode
// claims nothing.
type Mode uint8

// The modes, from the weakest to the strongest. IX and S are not comparable.
const (
	// ModeIS, intention shared: something below is read.
	ModeIS Mode = iota + 1
	// ModeIX, intention exclusive: something below changes.
	ModeIX
	// ModeS, shared: the node and everything below are read and must not change.
	ModeS
	// ModeSIX, shared and intention exclusive: the node and everything below are read, and
	// something below changes.
	ModeSIX
	// ModeX, exclusive: the node and everything below change. Holders below are kept out too, since
	// they need an intention on this node.
	ModeX
)

// Modes returns the five modes from the weakest to the strongest.
func Modes() []Mode { return []Mode{ModeIS, ModeIX, ModeS, ModeSIX, ModeX} }

// Compatible reports whether two owners may hold a and b on one node at once. The table is that of
// Gray et al. 1976, table 1.
func Compatible(a, b Mode) bool { return queue.Compatible(queue.Mode(a), queue.Mode(b)) }

// Supremum returns the weakest mode that is at least as strong as both a and b. It is the mode that
// an owner has on a node that it claimed twice.
func Supremum(a, b Mode) Mode {
	switch {
	case a == b:
		return a
	case a == ModeIX && b == ModeS, a == ModeS && b == ModeIX:
		return ModeSIX
	default:
		return max(a, b)
	}
}

// Covers reports whether holding m on a node gives everything that holding other on the same node
// gives.
func (m Mode) Covers(other Mode) bool { return Supremum(m, other) == m }

// CoversBelow reports whether holding m on a node gives everything that holding other on any node
// below it gives.
func (m Mode) CoversBelow(other Mode) bool {
	switch m {
	case ModeX:
		return true
	case ModeS, ModeSIX:
		return ModeS.Covers(other)
	default:
		return other == 0
	}
}

// Intention returns the mode that a claim of m needs on every ancestor of its node.
func (m Mode) Intention() Mode {
	switch m {
	case ModeIS, ModeS:
		return ModeIS
	case ModeIX, ModeSIX, ModeX:
		return ModeIX
	default:
		return 0
	}
}

// IsValid reports whether m is one of the five modes.
func (m Mode) IsValid() bool { return m >= ModeIS && m <= ModeX }

var modeNames = [ModeX + 1]string{0: "none", ModeIS: "IS", ModeIX: "IX", ModeS: "S", ModeSIX: "SIX", ModeX: "X"}

// String returns the mode's usual name: IS, IX, S, SIX or X.
func (m Mode) String() string {
	if m > ModeX {
		return fmt.Sprintf("Mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// MarshalText implements [encoding.TextMarshaler] with the form of [Mode.String].
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] for the form of [Mode.String].
func (m *Mode) UnmarshalText(text []byte) error {
	i := slices.Index(modeNames[ModeIS:], string(text))
	if i < 0 {
		return fmt.Errorf("pathlock: %q is not a lock mode: IS, IX, S, SIX or X", shown.Cut(string(text)))
	}
	*m = ModeIS + Mode(i)
	return nil
}

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
