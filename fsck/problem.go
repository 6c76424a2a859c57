package fsck

import (
	"fmt"
)

// Kind is what is wrong.
type Kind string

// The kinds of problems.
const (
	// BadKey: the key or the tree's id is a number but not a whole one, which SQLite allows in
	// columns of whole numbers. A repair skips the row.
	BadKey Kind = "bad-key"
	// NoTree: the tree column is NULL or empty, so that no lock can be taken for the row. A repair
	// gives the row the tree of the nearest row above that has one. If none has, it skips the row.
	NoTree Kind = "no-tree"
	// BadName: no path can have the name: it is NULL, empty, "." or "..", has a slash or a control
	// character, is not UTF-8, or is longer than [pathlock.MaxNameBytes]. The rows below have no
	// right path.
	BadName Kind = "bad-name"
	// Orphan: the parent is missing, deleted, or in another tree. The rows below have no right
	// path.
	Orphan Kind = "orphan"
	// Cycle: the row is its own ancestor. Each cycle is reported once, for the row with the
	// smallest key.
	Cycle Kind = "cycle"
	// TooDeep: the row has more than [pathlock.MaxDepth] names on its path. A repair leaves it as
	// it is.
	TooDeep Kind = "too-deep"
	// WrongPath: the path is not the parent's right path + "/" + name.
	WrongPath Kind = "wrong-path"
	// WrongIDPath: the id path is not the parent's right id path + "/" + the row's key.
	WrongIDPath Kind = "wrong-id-path"
	// PathTooLong: the path is wrong, and the right one does not fit into the column. A repair
	// leaves it as it is.
	PathTooLong Kind = "path-too-long"
	// BesideRoot: the row is at the top of a tree that has a root row, which has to be the only one
	// there. Of several root rows, the one with the smallest key counts.
	BesideRoot Kind = "beside-root"
	// Duplicate: a sibling with a smaller key has the same name.
	Duplicate Kind = "duplicate"
	// Lookalike: a sibling with a smaller key has another name that the collation of the name
	// column holds equal, such as "a" and "A", or "a" and "a ".
	Lookalike Kind = "lookalike"
	// MixedPrefix: children carry another prefix than the row's path, as two renames at once leave
	// them. The rows with the wrong paths are reported as well.
	MixedPrefix Kind = "mixed-prefix"
)

// Problem is one thing that is wrong with one row.
type Problem struct {
	Kind Kind `json:"problem"`
	Tree Key  `json:"tree"`
	ID   Key  `json:"id"`
	// Others are the other rows of the problem: an orphan's parent, the first 16 members of a
	// cycle, the sibling that has the name, the root row. Of a row without a tree it is the tree of
	// the rows above.
	Others []Key  `json:"others,omitempty"`
	Name   string `json:"name"`
	// NameBytes is the name if it is not UTF-8, which JSON cannot hold.
	NameBytes []byte `json:"name_base64,omitempty"`
	// Is is the path as it is, Want as it should be, nil where there is none. Of a WrongIDPath both
	// are id paths.
	Is   *string `json:"is"`
	Want *string `json:"want"`
	// Detail says the rest for people.
	Detail string `json:"detail"`
}

// String writes the problem for people.
func (p Problem) String() string {
	text := fmt.Sprintf("%s: tree %v, row %v %q: %s", p.Kind, p.Tree, p.ID, p.Name, p.Detail)
	if p.Want != nil {
		is := "NULL"
		if p.Is != nil {
			is = fmt.Sprintf("%q", *p.Is)
		}
		text += fmt.Sprintf(" (is %s, should be %q)", is, *p.Want)
	}
	return text
}

// Summary is the outcome of a check.
type Summary struct {
	// Rows is the number of live rows that were looked at.
	Rows int64 `json:"rows"`
	// Problems counts the problems by kind.
	Problems map[Kind]int64 `json:"problems"`
}

// Total is the number of problems.
func (s Summary) Total() int64 {
	var n int64
	for _, count := range s.Problems {
		n += count
	}
	return n
}
