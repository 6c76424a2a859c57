package queue

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
