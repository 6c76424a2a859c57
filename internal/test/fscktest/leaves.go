package fscktest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// leavesOf describes leaves below the rows of a table. They have the path of their parent where
// these have their own, and the other way round.
func leavesOf(table fsck.Table) fsck.Table {
	leaves := fsck.Table{Table: "cases", Key: "id", Parent: "suite_id", Name: "name", Path: table.Path, IDPath: table.IDPath, IDPathForm: table.IDPathForm}
	form, ofParent := strings.CutPrefix(table.PathForm, "parent:")
	switch {
	case table.Path == "":
	case ofParent:
		leaves.PathForm = form
	default:
		leaves.PathForm = "parent:" + cmp.Or(form, "/*/*")
	}
	return leaves
}

// insertLeaves writes leaves with wrong paths: a root row's may be right.
func (w *world) insertLeaves(t *testing.T, random *rand.Rand, nodes []Node) {
	t.Helper()
	for id := range random.IntN(2 * len(nodes)) {
		parent := nodes[random.IntN(len(nodes))].ID
		w.exec(t, "INSERT INTO cases (id, suite_id, name, path, id_path) VALUES (?, ?, ?, ?, ?)", id, parent+random.IntN(10)/9*10000, fmt.Sprint("l", id), "", nil)
	}
}

// wrongLeaves returns "kind id" and the table for each leaf with a wrong path.
func (w *world) wrongLeaves(t *testing.T) (found []string) {
	t.Helper()
	m := w.model(w.rows(t))
	leaves := w.table.Leaves[0]
	m.pathForm, m.idForm = cmp.Or(leaves.PathForm, "/*/*"), cmp.Or(leaves.IDPathForm, "/*/*")
	rows, err := w.db.QueryContext(context.WithoutCancel(t.Context()), "SELECT id, suite_id, name, path, COALESCE(id_path, '') FROM cases")
	testerr.Must(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n Node
		testerr.Must(t, rows.Scan(&n.ID, &n.Parent, &n.Name, &n.Path, &n.IDPath))
		up, there := m.rows[n.Parent]
		n.Tree = up.Tree
		path, ids, has := m.right(n)
		has = has && there && !up.Deleted
		if has && w.table.Path != "" && n.Path != path {
			found = append(found, fmt.Sprintf("%s %dcases", fsck.WrongPath, n.ID))
		}
		if has && w.table.IDPath != "" && n.IDPath != ids {
			found = append(found, fmt.Sprintf("%s %dcases", fsck.WrongIDPath, n.ID))
		}
	}
	testerr.Must(t, rows.Err())
	return found
}
