package fsck

import (
	"fmt"
)

// Kind is what is wrong.
type Kind string

// The kinds of problems.
const (
	// BadKey: the key or the tree's id is a number, but no whole one, as SQLite lets it be in
	// columns of whole numbers. A repair leaves the row as it is.
	BadKey Kind = "bad-key"
	// NoTree: the tree column is NULL or empty, so that no lock can be taken for the row. A repair
	// gives it the tree of the nearest row above that has one, and leaves it as it is where there
	// is none.
	NoTree Kind = "no-tree"
	// BadName: a name that no path can have: NULL, empty, "." or "..", with a slash or a control
	// character, not UTF-8, or longer than [pathlock.MaxNameBytes]. The rows below have no path
	// that would be right.
	BadName Kind = "bad-name"
	// Orphan: the parent is missing, deleted, or in another tree. The rows below have no path that
	// would be right.
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
	// PathTooLong: the path is not what it should be, and that does not fit into the column. A
	// repair leaves it as it is.
	PathTooLong Kind = "path-too-long"
	// BesideRoot: the row is at the top, and its tree has a root row, the one with the smallest key
	// if there are several. A tree has either one root row, which is then the only row at the top,
	// or none.
	BesideRoot Kind = "beside-root"
	// Duplicate: a sibling with a smaller key has the same name.
	Duplicate Kind = "duplicate"
	// Lookalike: a sibling with a smaller key has a name that is different, and equal to the
	// collation of the name column, such as "a" and "A", or "a" and "a ".
	Lookalike Kind = "lookalike"
	// MixedPrefix: children carry another prefix than the row's path, which is what renames that
	// met each other leave behind. The rows whose paths are wrong are reported as well, each by
	// itself.
	MixedPrefix Kind = "mixed-prefix"
)

// Problem is one thing that is wrong with one row.
type Problem struct {
	Kind Kind `json:"problem"`
	Tree Key  `json:"tree"`
	ID   Key  `json:"id"`
	// Others are further rows that the problem is about: an orphan's parent, the members of a cycle
	// (the first 16), the sibling that has the name, the root row, the tree that a row without one
	// is below.
	Others []Key  `json:"others,omitempty"`
	Name   string `json:"name"`
	// NameBytes is the name if it is not UTF-8, which JSON cannot tell otherwise.
	NameBytes []byte `json:"name_base64,omitempty"`
	// Is is the path as it is (the id path for WrongIDPath), and Want as it should be; nil where
	// there is none.
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
