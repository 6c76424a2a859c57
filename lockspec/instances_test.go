package lockspec_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// instance is one operation on the small tree: what lockspec thinks of it, and how the model does
// it.
type instance struct {
	what string
	op   operation.Operation
	do   handler
}

// String returns the instance for people to read.
func (i instance) String() string { return i.what }

// conflict says whether two claim sets cannot be held at once, by the definition: incompatible
// modes on one node of both normalised sets.
func conflict(a, b []pathlock.Claim) bool {
	held := map[pathlock.Path]pathlock.Mode{}
	for _, c := range pathlock.Normalize(a...) {
		held[c.Path] = c.Mode
	}
	for _, c := range pathlock.Normalize(b...) {
		if !pathlock.Compatible(held[c.Path], c.Mode) {
			return true
		}
	}
	return false
}

// instances returns every operation of a cloud drive on every node of the tree and to every place,
// with names that are free, taken, the node's own, and wanted by others.
func instances(t table) []instance {
	c := collector{tree: t}
	for _, id := range slices.Sorted(maps.Keys(t)) {
		if t[id].bin != "" {
			c.restore(id)
			continue
		}
		c.inside(id)
		c.onto(id)
		if id != "root" {
			c.relocate(id)
		}
	}
	c.add("delete the plan", operation.Operation{Kind: operation.Gate}, destroy())
	c.add("purge the recycle bin", operation.Operation{}, purge())
	return c.all
}

// collector makes the instances of one node after the other.
type collector struct {
	tree table
	all  []instance
}

// add keeps an instance, unless the resolver or the spec would have refused it before any lock:
// there is no such folder, or it is a move into the own subtree.
func (c *collector) add(what string, op operation.Operation, do handler) {
	if _, err := do(c.tree, "probe"); err == nil || errors.Is(err, errNameTaken) {
		c.all = append(c.all, instance{what, op, do})
	}
}

func (c *collector) path(id string) pathlock.Path {
	return pathlock.MustParsePath(c.tree[id].path)
}

// folders returns the ids of the folders.
func (c *collector) folders() []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(c.tree)) {
		if _, err := c.tree.folder(id); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// inside adds new folders, uploads and copies.
func (c *collector) inside(id string) {
	dest := c.path(id)
	for _, name := range []string{"n", "m", "b", "x"} {
		c.add(fmt.Sprintf("new folder %s in %s", name, dest),
			operation.Operation{Kind: operation.Insert, Dest: dest, Name: name}, insert(id, name, false))
	}
	for _, name := range []string{"n", "f"} {
		c.add(fmt.Sprintf("upload %s to %s", name, dest),
			operation.Operation{Kind: operation.Insert, Dest: dest, Name: name}, insert(id, name, true))
	}
}

// onto adds what works on a node, with all that is below.
func (c *collector) onto(id string) {
	node := c.path(id)
	c.add(fmt.Sprintf("edit %s", node), operation.Operation{Kind: operation.Edit, Node: node}, edit(id))
	c.add(fmt.Sprintf("export %s", node), operation.Operation{Kind: operation.Read, Node: node}, export(id))
	for _, destID := range c.folders() {
		names := []string{"n"}
		if destID == "a" {
			names = []string{"n", "f", "x"}
		}
		for _, name := range names {
			what := fmt.Sprintf("copy %s to %s as %s", node, c.path(destID), name)
			op := operation.Operation{Kind: operation.Copy, Node: node, Dest: c.path(destID), Name: name}
			c.add(what, op, duplicate(id, destID, name, false))
			op.Snapshot = true
			c.add("snapshot "+what, op, duplicate(id, destID, name, true))
		}
	}
}

// relocate adds what takes a node away from where it is.
func (c *collector) relocate(id string) {
	node, own := c.path(id), c.tree[id].name
	c.add(fmt.Sprintf("delete %s", node), operation.Operation{Kind: operation.Delete, Node: node}, remove(id))
	for _, name := range []string{"n", "m", "f", "x", own} {
		c.add(fmt.Sprintf("rename %s to %s", node, name),
			operation.Operation{Kind: operation.Rename, Node: node, Name: name}, rename(id, name))
	}
	for _, destID := range c.folders() {
		for _, name := range []string{"", "n"} {
			what := fmt.Sprintf("move %s to %s", node, c.path(destID))
			if name != "" {
				what += " as " + name
			}
			c.add(what, operation.Operation{Kind: operation.Move, Node: node, Dest: c.path(destID), Name: name}, move(id, destID, name))
		}
	}
}

// restore adds the return of a recycled item.
func (c *collector) restore(item string) {
	slot, err := c.path(c.tree[item].parent).Child(c.tree[item].name)
	if err != nil {
		return
	}
	c.add(fmt.Sprintf("restore %s (%s)", slot, item), operation.Operation{Kind: operation.Slot, Node: slot}, restore(item))
}
