package adopt

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Names that hint at the columns of trees' ids, and of depths.
var (
	treeHint  = regexp.MustCompile(`(?i)^(\w+_)?(tree|tenant|plan|project|org|organi[sz]ation|(work)?space|storage|root|collection|site|team|book|company|suite|community|drive|volume|library|repo|repository)(_?u?u?id)?$`)
	ownHint   = regexp.MustCompile(`(?i)^(\w+_)?(owner|user|account)(_?u?u?id)?$|^uid$`)
	pairHint  = regexp.MustCompile(`(?i)id$|type|kind|bucket`)
	anyName   = regexp.MustCompile("")
	depthHint = regexp.MustCompile(`(?i)(level|depth|grade|lvl|tier)$`)
)

// settle finds the column of the trees' ids: rows have the same value in it as the row above, and
// its name says so, or it is the only difference between rows of one place.
func (s *shape) settle() {
	s.findDepth()
	if s.Tree = cmp.Or(s.Tree, s.of.tree); s.Tree != "" {
		if s.of.second != "" && s.pair == nil {
			*s = s.inPair(s.of.tree, s.of.second)
		}
		return
	}
	s.SingleTree = treeName(s.Table.Table)
	rowOf := s.liveRows()
	most := 0
	for _, name := range s.of.order {
		kind := s.of.kind(name)
		if s.Has(name) || s.of.columns[name].Expression != "" || s.of.rows > 0 && s.of.cells[name] == nil || !alike(kind, kind) {
			continue
		}
		rank := s.treeRank(name, rowOf)
		if rank > most {
			most, s.Tree, s.SingleTree = rank, name, ""
		}
	}
	if s.Tree == "" || s.Path == "" {
		return
	}
	for _, second := range append(s.of.trees(pairHint), s.of.trees(anyName)...) {
		pair := s.inPair(s.Tree, second)
		made := s.of.columns[pair.Tree].Name != "" && !s.of.isVacant(pair.Tree)
		if !s.Has(second) && (made || !s.apart(s.Tree) && pair.treeRank(pair.Tree, rowOf) >= apartRank) {
			*s = pair
			return
		}
	}
}

// findDepth finds the column that has the number of names of a row's path, or that number plus a
// constant. Its name has to say so: other numbers, such as keys, can fit by chance.
func (s *shape) findDepth() {
	if s.guessed {
		return
	}
	p := s.places()
	for _, name := range s.of.order {
		if s.of.kind(name) != dialect.Number || s.of.columns[name].Expression != "" || !depthHint.MatchString(name) || s.of.cells[name] == nil || slices.Contains([]string{s.Key, s.Parent, s.Tree}, name) {
			continue
		}
		offsets, depths, all := make(map[int]int), make(map[int]bool), 0
		for i, c := range s.of.cells[name] {
			if !s.isLive(i) || p.wrong[i] != "" || p.unseen[i] {
				continue
			}
			names := p.depth[i]
			if s.Path != "" {
				names = strings.Count(p.names[i], "/")
			}
			all++
			if is, err := strconv.Atoi(c.String); err == nil {
				offsets[is-names]++
				depths[names] = true
			}
		}
		for offset, n := range offsets {
			if offset >= -1 && offset < 255 && len(depths) > 1 && (most(n, all) || s.isAdded(s.Parent) && 2*n > all) { // a stale path hides where a row is
				if s.Depth = name; offset != 0 {
					s.DepthTop = strconv.Itoa(offset + 1)
				}
				return
			}
		}
	}
}

// apartRank is the least rank of a column that tells rows with one path apart.
const apartRank = 5

// treeRank says how well a column fits for the trees' ids; 0 if it does not.
func (s *shape) treeRank(name string, rowOf map[string]int) int {
	values := make(map[string]bool)
	for i := range s.live() {
		values[s.of.cells[name][i].String] = true
	}
	kept, links := s.kept(name, rowOf)
	stem := strings.TrimSuffix(strings.ToLower(name), "_id")
	isDetail := stem != strings.ToLower(name) && strings.Contains(strings.ToLower(s.Table.Table), stem+"_")
	strong, weak := treeHint.MatchString(name) || isDetail, ownHint.MatchString(name)
	rank, isID := 0, strings.HasSuffix(strings.ToLower(name), "_id") && links > 1 && kept == links
	switch {
	// Rows rarely move from tree to tree: nine of ten have to be in the tree of the row above.
	case values[""], s.of.rows > 0 && 10*kept < 9*links, !strong && len(values) < 2:
		return 0
	case strong && len(values) > 1 && links > 0:
		rank = 4
	case strong && (len(values) != s.of.rows || s.of.rows < 2):
		rank = 3
	case weak && links > 0:
		rank = 2
	case isID:
		rank = 1
	}
	if links > 0 && 2*len(values) < s.of.rows && s.Path != "" && s.apart(name) && !s.apart("") {
		rank += apartRank
	}
	return rank
}

// kept counts the live rows that have one above them, and those of these that have the same value
// in a column as the row above.
func (s *shape) kept(name string, rowOf map[string]int) (kept, links int) {
	cells := s.of.cells[name]
	for below, above := range s.links(rowOf) {
		links++
		if cells[above] == cells[below] {
			kept++
		}
	}
	return kept, links
}

// links yields each live row that has one above it, with the row above.
func (s *shape) links(rowOf map[string]int) iter.Seq2[int, int] {
	return func(yield func(below, above int) bool) {
		for i, c := range s.of.cells[s.Parent] {
			if up, ok := rowOf[c.String]; ok && s.isLive(i) && !s.isTop(i) && !yield(i, up) {
				return
			}
		}
	}
}

// isKept reports whether each live row has in a column what the row above has.
func (s *shape) isKept(name string) bool {
	kept, links := s.kept(name, s.liveRows())
	return kept == links && links > 0
}

// apart reports whether nearly all rows of a tree have a path of their own, if a column has the
// trees' ids.
func (s *shape) apart(tree string) bool { return nearlyAll(s.distinct(tree, s.Path, s.Name)) }
