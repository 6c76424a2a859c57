package adopt

import (
	"regexp"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// otherTrees says which trees of kinds that pathlock does not keep the table holds.
func (t *table) otherTrees() (found []Unsupported) {
	var why remarks
	for _, name := range t.order {
		why.say(strings.EqualFold(t.columns[name].Type, "ltree") || strings.HasSuffix(t.columns[name].Type, ".ltree"),
			"%s is an ltree, which has no order of bytes and keeps few names: a text column with paths such as 1.7 replaces it", name)
	}
	left, right := t.named(leftHint, rightHint)
	why.say(t.kind(left) == dialect.Number && t.areSets(left, right),
		"%s and %s are nested sets: an insert renumbers the rows to its right, in all of the tree, so there is no path whose nodes could be locked; a parent and a path of ids replace them", left, right)
	above, below := t.named(aboveHint, belowHint)
	why.say(below != "" && t.isClosure(above, below),
		"%s and %s are a closure table, with a row for each pair of a node and one above it: pathlock keeps paths in the rows of the nodes; a parent and a path of ids there replace it", above, below)
	name, step := t.fixedSteps()
	why.say(name != "", "%s has steps of %d characters each, with nothing between them: no form of a path says where one ends; a parent and a path of ids replace it", name, step)
	for _, line := range why {
		found = append(found, Unsupported{t.name, line})
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

// named returns two columns of one kind by their names, "" if there are none.
func (t *table) named(first, second *regexp.Regexp) (a, b string) {
	for _, name := range t.order {
		switch {
		case name == t.key, t.rows > 0 && t.cells[name] == nil:
		case first.MatchString(name):
			a = name
		case second.MatchString(name):
			b = name
		}
	}
	if !alike(t.kind(a), t.kind(b)) {
		return "", ""
	}
	return a, b
}

// areSets reports whether most rows have a smaller number in one column than in another.
func (t *table) areSets(left, right string) bool {
	ordered := 0
	for i, c := range t.cells[left] {
		if a, b := c.String, t.cells[right][i].String; len(a) < len(b) || len(a) == len(b) && a < b {
			ordered++
		}
	}
	return t.rows == 0 || enough(ordered, t.rows)
}

// isClosure reports whether most nodes below others are above themselves, too.
func (t *table) isClosure(above, below string) bool {
	own, nodes := make(map[cell]bool), make(map[cell]bool)
	for i, node := range t.cells[below] {
		nodes[node] = true
		if t.cells[above][i] == node {
			own[node] = true
		}
	}
	return t.rows == 0 || enough(len(own), len(nodes))
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
