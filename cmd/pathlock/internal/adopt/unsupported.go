package adopt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// otherTrees says which trees of kinds that pathlock does not keep the table holds.
func (t *table) otherTrees() (found []Unsupported) {
	say := func(format string, args ...any) {
		found = append(found, Unsupported{t.name, fmt.Sprintf(format, args...)})
	}
	for _, name := range t.order {
		if strings.EqualFold(t.columns[name].Type, "ltree") || strings.HasSuffix(t.columns[name].Type, ".ltree") {
			say("%s is an ltree, which has no order of bytes and keeps few names: a text column with paths such as 1.7 replaces it", name)
		}
	}
	if left, right := t.nestedSet(); left != "" {
		say("%s and %s are nested sets: an insert renumbers the rows to its right, in all of the tree, so there is no path whose nodes could be locked; a parent and a path of ids replace them", left, right)
	}
	if above, below := t.closure(); above != "" {
		say("%s and %s are a closure table, with a row for each pair of a node and one above it: pathlock keeps paths in the rows of the nodes; a parent and a path of ids there replace it", above, below)
	}
	if name, step := t.fixedSteps(); name != "" {
		say("%s has steps of %d characters each, with nothing between them: no form of a path says where one ends; a parent and a path of ids replace it", name, step)
	}
	return found
}

// Names of the columns of nested sets and closures.
var (
	leftHint  = regexp.MustCompile(`(?i)^(lft|n?_?left|tree_?left|left_?(id|key|value)?|lf?t_?key)$`)
	rightHint = regexp.MustCompile(`(?i)^(rght|rgt|n?_?right|tree_?right|right_?(id|key|value)?|rgt_?key)$`)
	aboveHint = regexp.MustCompile(`(?i)^(ancestor|parent)(_?id)?$`)
	belowHint = regexp.MustCompile(`(?i)^(descendant|child)(_?id)?$`)
)

// numbers are the columns of numbers, without the key.
func (t *table) numbers() []string {
	return slices.DeleteFunc(slices.Clone(t.order), func(name string) bool {
		return t.kind(name) != dialect.Number || t.isKey(name)
	})
}

// nestedSet returns the columns of nested sets: the numbers of both are 1 to twice the rows, or
// their names say it.
func (t *table) nestedSet() (left, right string) {
	for _, left = range t.numbers() {
		for _, right = range t.numbers() {
			hinted := leftHint.MatchString(left) && rightHint.MatchString(right)
			if left == right || t.rows == 0 && !hinted || t.rows > 0 && (t.cells[left] == nil || t.cells[right] == nil) {
				continue
			}
			ordered, seen := 0, make(map[string]bool)
			for i := range t.rows {
				a, b := t.cells[left][i].String, t.cells[right][i].String
				if len(a) < len(b) || len(a) == len(b) && a < b {
					ordered++
				}
				seen[a], seen[b] = true, true
			}
			full := t.rows > 2 && len(seen) == 2*t.rows && seen["1"] && seen[fmt.Sprint(2*t.rows)]
			if ordered == t.rows && (hinted || full) || hinted && enough(ordered, t.rows) {
				return left, right
			}
		}
	}
	return "", ""
}

// closure returns the columns of a closure table: their names say so, and most nodes are above
// themselves.
func (t *table) closure() (above, below string) {
	for _, above = range t.order {
		for _, below = range t.order {
			hinted := aboveHint.MatchString(above) && belowHint.MatchString(below)
			if !hinted || t.isKey(above) || t.isKey(below) || !alike(t.kind(above), t.kind(below)) || t.rows > 0 && (t.cells[above] == nil || t.cells[below] == nil) {
				continue
			}
			own, nodes := make(map[cell]bool), make(map[cell]bool)
			for i, node := range t.cells[below] {
				nodes[node] = true
				if t.cells[above][i] == node {
					own[node] = true
				}
			}
			if t.rows == 0 || enough(len(own), len(nodes)) {
				return above, below
			}
		}
	}
	return "", ""
}

// fixedSteps returns a column of paths whose steps have one length, as the beginning of each is
// another row's.
func (t *table) fixedSteps() (column string, step int) {
	for _, column = range t.texts() {
		cells, lengths := t.cells[column], make(map[string]bool, t.rows)
		for _, c := range cells {
			lengths[c.String] = true
		}
		for step := 2; step <= 8 && t.rows > 1; step++ {
			below, wrong := 0, 0
			for _, c := range cells {
				switch n := len(c.String); {
				case n == 0 || n%step != 0 || strings.ContainsAny(c.String, treetable.NameSeparators+" "):
					wrong++
				case n > step && lengths[c.String[:n-step]]:
					below++
				case n > step:
					wrong++
				}
			}
			if below > 0 && below*4 >= t.rows && wrong*10 <= t.rows && len(lengths) == t.rows {
				return column, step
			}
		}
	}
	return "", 0
}
