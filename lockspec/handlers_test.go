package lockspec_test

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
)

// The handlers work on a table without any protection: what they read in their first step they rely
// on in their second. They do what handlers usually do: they write rows by id, notice when there is
// no such row any more, and find descendants by their paths.

// What a handler answers when it does not do what it was asked.
var (
	errNotFound  = errors.New("not found")
	errNameTaken = errors.New("name taken")
	errCycle     = errors.New("would cycle")
)

// answer is what the client is told.
type answer struct {
	err error
	// seen is what a handler read of a subtree before and while it answered.
	seen string
}

// handler is the first step of an operation: it reads. It returns the second step, which writes and
// answers, or an error, which is then the answer. The tag makes the ids of new rows.
type handler func(t table, tag string) (write func(table) answer, err error)

// onRow is the handler of a row that looks for it in both steps.
func onRow(id string, first func(t table, node row, tag string) (func(t table, now row) answer, error)) handler {
	return func(t table, tag string) (func(table) answer, error) {
		node, err := t.live(id)
		if err != nil {
			return nil, err
		}
		second, err := first(t, node, tag)
		return func(t table) answer {
			now, err := t.live(id)
			if err != nil {
				return answer{err: err}
			}
			return second(t, now)
		}, err
	}
}

// insert creates a folder or a file.
func insert(parentID, name string, file bool) handler {
	return func(t table, tag string) (func(table) answer, error) {
		parent, err := t.folder(parentID)
		if err != nil {
			return nil, err
		}
		return func(t table) answer {
			t[tag] = row{id: tag, parent: parentID, name: name, path: parent.path + "/" + name, file: file}
			return answer{}
		}, t.free(parentID, name, "")
	}
}

// rename gives a row another name. move puts it under another parent, and under another name if
// newName is not empty.
func rename(id, newName string) handler { return relocate(id, "", newName) }

func move(id, destID, newName string) handler { return relocate(id, destID, newName) }

func relocate(id, destID, newName string) handler {
	return onRow(id, func(t table, node row, _ string) (func(table, row) answer, error) {
		name, parentID := cmp.Or(newName, node.name), cmp.Or(destID, node.parent)
		parent, err := t.folder(parentID)
		switch {
		case err != nil:
			return nil, err
		case parent.id == id || strings.HasPrefix(parent.path, node.path+"/"):
			return nil, errCycle
		}
		return func(t table, now row) answer {
			// An UPDATE sets the columns that change and leaves the others.
			now.name, now.parent = cmp.Or(newName, now.name), cmp.Or(destID, now.parent)
			now.path = parent.path + "/" + name
			t.put(now, node.path)
			return answer{}
		}, t.free(parentID, name, id)
	})
}

// duplicate copies a subtree. It counts what there is to copy first, such as for a quota, and then
// copies what it finds; a snapshot copy reads once.
func duplicate(id, destID, name string, snapshot bool) handler {
	return func(t table, tag string) (func(table) answer, error) {
		node, err := t.live(id)
		if err != nil {
			return nil, err
		}
		dest, err := t.folder(destID)
		if err != nil {
			return nil, err
		}
		if err := t.free(destID, name, ""); err != nil {
			return nil, err
		}
		source := append(t.below(node.path), node)
		return func(t table) answer {
			a := answer{}
			if !snapshot {
				a.seen = list(source)
				now, err := t.live(id)
				if err != nil {
					return answer{err: err}
				}
				source = append(t.below(node.path), now)
			}
			copyOf := func(id string) string { return tag + "(" + id + ")" }
			for _, r := range source {
				c := r
				c.id, c.parent = copyOf(r.id), copyOf(r.parent)
				c.path = dest.path + "/" + name + strings.TrimPrefix(r.path, node.path)
				if r.id == id {
					c.parent, c.name = destID, name
				}
				t[c.id] = c
			}
			return a
		}, nil
	}
}

// remove puts a subtree into the recycle bin.
func remove(id string) handler {
	return onRow(id, func(_ table, node row, _ string) (func(table, row) answer, error) {
		return func(t table, now row) answer {
			for _, r := range append(t.below(node.path), now) {
				r.bin = id
				t[r.id] = r
			}
			return answer{}
		}, nil
	})
}

// edit sets an attribute in one statement, as a new version of a file.
func edit(id string) handler {
	return onRow(id, func(_ table, _ row, tag string) (func(table, row) answer, error) {
		return func(t table, now row) answer {
			now.version++
			now.content = tag
			t[id] = now
			return answer{}
		}, nil
	})
}

// export reads a subtree in two statements.
func export(id string) handler {
	return onRow(id, func(t table, node row, _ string) (func(table, row) answer, error) {
		first := list(append(t.below(node.path), node))
		return func(t table, now row) answer {
			return answer{seen: first + "; " + list(append(t.below(node.path), now))}
		}, nil
	})
}

// restore takes an item out of the recycle bin, back to its old parent.
func restore(item string) handler {
	return func(t table, _ string) (func(table) answer, error) {
		top, ok := t[item]
		if !ok || top.bin != item {
			return nil, errNotFound
		}
		parent, err := t.folder(top.parent)
		if err != nil {
			return nil, err
		}
		if err := t.free(parent.id, top.name, ""); err != nil {
			return nil, err
		}
		return func(t table) answer {
			if now := t[item]; now.bin != item {
				return answer{err: errNotFound}
			}
			for id, r := range t {
				if r.bin == item {
					r.path = parent.path + "/" + top.name + strings.TrimPrefix(r.path, top.path)
					r.bin = ""
					t[id] = r
				}
			}
			return answer{}
		}, nil
	}
}

// purge empties the recycle bin in one statement.
func purge() handler {
	return func(table, string) (func(table) answer, error) {
		return func(t table) answer {
			maps.DeleteFunc(t, func(_ string, r row) bool { return r.bin != "" })
			return answer{}
		}, nil
	}
}

// destroy deletes the rows of the whole plan that it has listed.
func destroy() handler {
	return onRow("root", func(t table, _ row, _ string) (func(table, row) answer, error) {
		ids := slices.Collect(maps.Keys(t))
		return func(t table, _ row) answer {
			for _, id := range ids {
				delete(t, id)
			}
			return answer{}
		}, nil
	})
}
