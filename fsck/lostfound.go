package fsck

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// LostFound is the name of the row at the top of a tree below which orphans and broken cycles go.
const LostFound = "lost+found"

// creation is the edit that creates a lost+found.
type creation struct {
	edit
	// fresh is its key until then, made is set after that, and impossible says why it cannot be.
	fresh      Key
	made       bool
	impossible error
}

// freshKey is the key of a row that is planned, such as "new:1".
type freshKey string

// lostFound returns the row for orphans and broken cycles of a tree, which may have to be created.
func (p *plan) lostFound(tree Key) *row {
	top := seat{tree: tree, parent: p.noParent(tree)}
	root := p.roots[tree]
	if root != nil {
		top.parent = root.key
	}
	home := p.lostFounds[tree]
	for n := 1; home == nil; n++ {
		top.name = numbered(LostFound, n, p.limits[p.table.Name])
		at := p.slot(&top)
		taken := p.taken(at)
		// A live row has the name, nobody, or a deleted row.
		if i := slices.IndexFunc(p.named[at], func(r *row) bool { return r.state != unknown && p.slot(&r.seat) == at }); i >= 0 {
			home = p.named[at][i]
		} else if !taken {
			home = p.createdRow(top, root, n)
		}
	}
	p.lostFounds[tree] = home
	return home
}

// createdRow plans a row at the top of a tree.
func (p *plan) createdRow(at seat, root *row, number int) *row {
	p.created++
	r := &row{key: Key{freshKey(fmt.Sprintf("new:%d", p.created))}, seat: at, up: root}
	p.settleBelow(r, root)
	p.named[p.slot(&at)] = []*row{r}
	p.creations[r] = &creation{edit: edit{row: r, to: at, up: root, base: LostFound, number: number}, fresh: r.key}
	return r
}

// noParent returns the parent value of the rows at the top: NULL, 0, or the nil UUID. It looks in
// the tree first, then in all others. Without any row at the top it is NULL, if the column can be.
func (p *plan) noParent(tree Key) Key {
	if p.tops == nil {
		p.tops = make(map[Key]Key)
		for _, r := range p.rows {
			if !r.isTop() {
				continue
			}
			for _, t := range []Key{r.tree, {}} {
				if _, known := p.tops[t]; !known {
					p.tops[t] = r.parent
				}
			}
		}
	}
	if none, known := p.tops[tree]; known {
		return none
	}
	if none, known := p.tops[Key{}]; known {
		return none
	}
	return p.orphans
}

// derivedKey makes the key of a tree's lost+found, if keys are not numbers that the database
// generates. It depends on the tree alone, and has the form of the tree's other keys. A UUID has
// version 8 (RFC 9562, section 5.8).
func derivedKey(table string, tree, like Key, most limit) Key {
	sum := sha256.Sum256([]byte("pathlock lost+found\x00" + table + "\x00" + tree.String()))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	if b, binary := like.v.(binaryKey); binary {
		return Key{binaryKey(sum[:min(max(1, len(b)), len(sum))])}
	}
	if len(like.text()) == 36 {
		return TextKey(fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
	}
	return TextKey(fit(fmt.Sprintf("%x", sum[:16]), most))
}
