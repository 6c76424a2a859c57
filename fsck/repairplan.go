package fsck

import (
	"cmp"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// edit is what a repair does to one row.
type edit struct {
	row *row
	why Kind
	// was is the row's place in the database, and to its new one. up is the parent there, nil at
	// the top. An edit of paths uses none of them.
	was, to seat
	up      *row
	// The new name is base with number appended; 1 stands for no number.
	base   string
	number int
	// because has the other rows that caused the edit.
	because []witness
}

// witness is where a row was when an edit was planned.
type witness struct {
	*row
	was seat
}

func witnesses(rows ...*row) (all []witness) {
	for _, r := range rows {
		all = append(all, witness{r, r.seat})
	}
	return all
}

// plan decides, in memory, how to repair the rows with wrong names and parents: it changes the
// forest as the repair will change the table. Paths come later, when that is done.
type plan struct {
	*forest
	*repair
	edits []*edit
	// edited are the rows that are edited.
	edited map[*row]bool
	// named has the rows in each slot. It includes deleted rows, since an index may cover them, and
	// some rows that have left the slot, which taken ignores. next has, by group and base, the
	// number up to which all names are taken.
	named map[slot][]*row
	next  map[group]map[string]int
	// moving is the row that gets a name.
	moving *row
	// lostFounds has the lost+found of each tree, and tops the parent value of the rows at the top;
	// that of the zero Key is for trees without any.
	lostFounds map[Key]*row
	tops       map[Key]Key
}

// newPlan plans the repair of one kind of problem after another, each in the order of keys. So the
// outcome depends neither on the size of transactions nor on repairs that ended early.
func (r *repair) newPlan(f *forest) *plan {
	p := &plan{forest: f, repair: r, edited: make(map[*row]bool), named: make(map[slot][]*row), next: make(map[group]map[string]int), lostFounds: make(map[Key]*row)}
	for _, r := range slices.Concat(p.rows, p.deleted) {
		p.named[p.slot(&r.seat)] = append(p.named[p.slot(&r.seat)], r)
	}
	for _, mend := range []func(*row){p.cleanName, p.rescueOrphan, p.breakCycle, p.moveBelowRoot} {
		for _, r := range p.rows {
			mend(r)
		}
	}
	for _, kind := range []Kind{Duplicate, Lookalike} {
		p.renameTwins(kind)
	}
	return p
}

// cleanName replaces a name that no path can have.
func (p *plan) cleanName(r *row) {
	if p.badName(r) != nil && p.allows(r) {
		p.settle(&edit{row: r, why: BadName, to: r.seat, up: r.up}, p.cleaned(r.name), 1)
	}
}

func (p *plan) rescueOrphan(r *row) {
	if r.fault != faultNone && p.allows(r) {
		p.moveToLostFound(r, Orphan, nil)
	}
}

// breakCycle moves the row of a cycle with the smallest key, with all rows below it.
func (p *plan) breakCycle(r *row) {
	if members := p.cycles[r]; members != nil && p.allows(r) {
		p.moveToLostFound(r, Cycle, witnesses(members[1:min(len(members), pathlock.MaxDepth)]...))
	}
}

// moveToLostFound moves a row below the lost+found of its tree, or to the top where rows have no
// names by which one would be found again.
func (p *plan) moveToLostFound(r *row, why Kind, because []witness) {
	e := &edit{row: r, why: why, to: r.seat, because: because}
	if p.table.Name == "" {
		e.to.parent = p.noParent(r.tree)
	} else {
		e.up = p.lostFound(r.tree)
		e.to.parent, e.because = e.up.key, append(e.because, witnesses(e.up)...)
	}
	p.settle(e, r.name, 1)
}

// moveBelowRoot moves a row beside a root row below it. Its path stays the same, unless a sibling
// there has the name. A second root row gets the name "root".
func (p *plan) moveBelowRoot(r *row) {
	if root := p.roots[r.tree]; p.besideRoot(r) != nil && p.allows(r) {
		e := &edit{row: r, why: BesideRoot, to: r.seat, up: root, because: witnesses(root)}
		e.to.parent = root.key
		p.settle(e, cmp.Or(r.name, "root"), 1)
	}
}

// renameTwins renames rows that have the name of a sibling with a smaller key.
func (p *plan) renameTwins(kind Kind) {
	for _, t := range p.twins() {
		if t.kind != kind || kind == Lookalike && p.edited[t.first] || !p.allows(t.row) {
			continue
		}
		p.settle(&edit{row: t.row, why: kind, to: t.row.seat, up: t.row.up, because: witnesses(t.first)}, t.row.name, 2)
	}
}

// allows reports whether a row may be changed. If not, it is skipped.
func (p *plan) allows(r *row) bool {
	if p.skippedRows[r.id()] || p.skippedTrees[r.tree] {
		return false
	}
	if _, err := pathlock.NewTree(p.table.Namespace, r.tree.String()); err != nil {
		p.skipTree(r.tree, err)
		return false
	}
	return true
}

// planPaths plans the edits of rows with wrong paths.
func (r *repair) planPaths(f *forest) *plan {
	p := &plan{forest: f, repair: r}
	for _, row := range slices.Concat(f.rows, f.leafRows) {
		if len(f.wrongPaths(row, row)) > 0 && p.allows(row) {
			p.edits = append(p.edits, &edit{row: row, why: WrongPath})
		}
	}
	return p
}
