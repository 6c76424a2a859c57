package lockspec_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// row is one row of the model's table.
type row struct {
	id, parent string
	name, path string
	file       bool
	// content and version are attributes that no path depends on.
	content string
	version int
	// bin is the recycled item that the row belongs to: the id of the row that was deleted. It is
	// empty while the row is live.
	bin string
}

// table is a table of rows such as a backend has, by their ids. It knows nothing of locks and
// nothing of package lockspec.
type table map[string]row

// live returns the row with the id unless it is gone.
func (t table) live(id string) (row, error) {
	r, ok := t[id]
	if !ok || r.bin != "" {
		return row{}, errNotFound
	}
	return r, nil
}

// folder returns the live row with the id if it can have children.
func (t table) folder(id string) (row, error) {
	r, err := t.live(id)
	if err == nil && r.file {
		return row{}, errNotFound
	}
	return r, err
}

// free is the duplicate check: it looks for a live sibling of that name other than self.
func (t table) free(parent, name, self string) error {
	for _, r := range t {
		if r.bin == "" && r.parent == parent && r.name == name && r.id != self {
			return errNameTaken
		}
	}
	return nil
}

// below returns the live rows whose paths are in the range below path, in order of their ids.
func (t table) below(path string) []row {
	var rows []row
	for _, r := range t {
		if r.bin == "" && r.id != "root" && strings.HasPrefix(r.path, path+"/") {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	return rows
}

// put writes changes to a row by its id, and rewrites the paths of those that are found below its
// old one.
func (t table) put(r row, oldPath string) {
	for _, d := range t.below(oldPath) {
		if d.id != r.id {
			d.path = r.path + strings.TrimPrefix(d.path, oldPath)
			t[d.id] = d
		}
	}
	t[r.id] = r
}

// walk returns the path that a row should have by its ancestors, or a text that is not a path if
// they lead nowhere or in a circle.
func (t table) walk(id string) string {
	var names string
	for range len(t) + 1 {
		r, err := t.live(id)
		switch {
		case err != nil:
			return "orphan"
		case r.parent == "":
			return names
		}
		names = "/" + r.name + names
		id = r.parent
	}
	return "cycle"
}

// broken says what is wrong with the tree, and "" if nothing is.
func (t table) broken() string {
	type slot struct{ parent, name string }
	slots := map[slot]bool{}
	for id, r := range t {
		if r.bin != "" {
			continue
		}
		if should := t.walk(id); should != r.path {
			return fmt.Sprintf("%s has the path %q and not %q", id, r.path, should)
		}
		if slots[slot{r.parent, r.name}] {
			return fmt.Sprintf("two nodes below %s are called %q", r.parent, r.name)
		}
		slots[slot{r.parent, r.name}] = true
	}
	return ""
}

// list writes what a reader sees of rows.
func list(rows []row) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = fmt.Sprintf("%s %s %s %d", r.id, r.path, r.content, r.version)
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// smallTree returns the tree on which every operation is tried beside every other:
//
//	/a  /a/b  /a/b/c  /a/f (file)  /d  /d/e  /d/f (file)
//
// and in the recycle bin /a/x with /a/x/y, another /a/x (file), and /d/e, in whose place there is a
// new one.
func smallTree() table {
	t := table{}
	add := func(id, parent, path string, file bool, bin string) {
		t[id] = row{id: id, parent: parent, name: path[strings.LastIndex(path, "/")+1:], path: path, file: file, bin: bin}
	}
	add("root", "", "/", false, "")
	root := t["root"]
	root.path = ""
	t["root"] = root
	add("a", "root", "/a", false, "")
	add("b", "a", "/a/b", false, "")
	add("c", "b", "/a/b/c", false, "")
	add("f", "a", "/a/f", true, "")
	add("d", "root", "/d", false, "")
	add("e", "d", "/d/e", false, "")
	add("g", "d", "/d/f", true, "")
	add("x1", "a", "/a/x", false, "x1")
	add("y1", "x1", "/a/x/y", false, "x1")
	add("x2", "a", "/a/x", true, "x2")
	add("e2", "d", "/d/e", false, "e2")
	return t
}
