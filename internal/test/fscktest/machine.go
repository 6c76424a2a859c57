package fscktest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// eachSeed runs a test with random numbers of several new seeds, or of the one in
// PATHLOCK_TEST_SEED, to repeat a failure. There are six on SQLite, two on servers, which take ten
// times as long, or as many as PATHLOCK_TEST_TRIES says.
func eachSeed(t *testing.T, database Database, test func(t *testing.T, random *rand.Rand)) {
	t.Helper()
	tries, _ := strconv.Atoi(os.Getenv("PATHLOCK_TEST_TRIES"))
	if tries = max(tries, 2); database.Dialect == fsck.SQLite {
		tries = max(tries, 6)
	}
	for range tries {
		seed, err := strconv.ParseUint(os.Getenv("PATHLOCK_TEST_SEED"), 10, 64)
		if err != nil {
			seed = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { test(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

// shapes are the tables on which the machine runs.
var shapes = map[string]schema{
	"plain": {}, "a loose collation": {loose: true},
	"unique siblings, and a version": {unique: true, table: func(d *fsck.Table) { d.Version = "version" }},
	"unique siblings and paths":      {unique: true, uniquePaths: true},
	"no paths of names":              {table: func(d *fsck.Table) { d.Path = "" }},
	"no paths of ids":                {table: func(d *fsck.Table) { d.IDPath = "" }},
	"paths of ids in another form":   {table: func(d *fsck.Table) { d.Path, d.IDPathForm = "", "/0/*/*/" }},
	"paths of the parent":            {table: func(d *fsck.Table) { d.PathForm, d.IDPathForm = "parent:/*/*", "parent:/0/*/*/" }},
	"two other forms":                {uniquePaths: true, table: func(d *fsck.Table) { d.PathForm, d.IDPathForm = "*,*,", "*.*" }},
	"one tree":                       {table: func(d *fsck.Table) { d.Tree, d.SingleTree = "", "all" }},
	"-1 at the top":                  {table: func(d *fsck.Table) { d.ParentTop = "-1" }},
	"a flag":                         {mark: "BIGINT", gone: "7", live: "0"},
	"a status":                       {mark: "VARCHAR(20)", gone: "archived", live: "draft", table: func(d *fsck.Table) { d.DeletedWhen = "archived" }},
	"ids alone":                      {table: func(d *fsck.Table) { d.Tree, d.SingleTree, d.Name, d.Path = "", "all", "", "" }},
}

// draw returns the rows of sound trees, and then damages random ones.
func draw(random *rand.Rand, w *world, shape schema) []Node {
	size := 5 + random.IntN(40)
	nodes, ids := make([]Node, size), random.Perm(size) // parents have greater and smaller keys than their children
	for i := range nodes {
		n := Node{ID: ids[i] + 1, Tree: 1 + random.IntN(2), Name: fmt.Sprintf("n%d", i)}
		if i < 4 && random.IntN(2) == 0 {
			n.Name = ""
		} else if above := nodes[random.IntN(max(i, 1))]; i > 3 || above.Tree == n.Tree {
			n.Tree, n.Parent = cmp.Or(above.Tree, n.Tree), above.ID
		}
		nodes[i] = w.understood(n)
	}
	sound := make(map[int]Node)
	for _, n := range nodes {
		sound[n.ID] = n
	}
	for i := range nodes {
		nodes[i].Path, nodes[i].IDPath, _ = w.model(sound).right(nodes[i])
	}
	names := []string{"a", "b", "A", "a (2)", "", "..", "x/y", "x,y", ",", "x,y (2)", "lost+found", null}
	for range random.IntN(size) {
		n, other := &nodes[random.IntN(size)], &nodes[random.IntN(size)]
		switch random.IntN(9) {
		case 0:
			n.Parent = other.ID // another tree's row, a descendant, itself, …
		case 1:
			n.Parent = 10000 + random.IntN(3)
		case 2:
			n.Parent = 0
		case 3, 4:
			n.Name = names[random.IntN(len(names))]
		case 5:
			n.Tree, n.Parent, n.Name = other.Tree, other.Parent, other.Name
			if shape.loose && n.Name != null && random.IntN(2) == 0 {
				n.Name = strings.ToUpper(n.Name)
			}
		case 6:
			n.Path, n.IDPath, other.Path, other.IDPath = other.Path, other.IDPath, n.Path, n.IDPath
		case 7:
			n.Path = []string{null, "", "/old/" + n.Name}[random.IntN(3)]
		case 8:
			n.Deleted = true
		}
		*n = w.understood(*n)
	}
	for i := range nodes {
		if n := &nodes[i]; n.Deleted && shape.uniquePaths { // a deleted row keeps its path, which nobody else gets
			n.Path, n.IDPath = fmt.Sprint("/deleted/", n.ID), fmt.Sprint("/deleted/", n.ID)
		}
	}
	return nodes
}

// testMachine damages random trees, on tables of several shapes. A check finds exactly what the
// model finds. A repair leaves nothing of it. No row is lost, and a row without a problem stays
// where it is, under its name. A dry run writes nothing, and says
// what is done; a second repair changes nothing. A repair that is ended at random, again and again,
// has the same outcome, and its logs have all changes.
func testMachine(t *testing.T, database Database) {
	for what, shape := range shapes {
		t.Run(what, func(t *testing.T) {
			shape.leaves = true
			eachSeed(t, database, func(t *testing.T, random *rand.Rand) { testMachineOn(t, database, shape, random) })
		})
	}
}

func testMachineOn(t *testing.T, database Database, shape schema, random *rand.Rand) {
	w := newWorld(t, database, shape)
	nodes := w.insertAsAllowed(t, draw(random, w, shape))
	w.insertLeaves(t, random, nodes)
	before := w.rows(t)
	wrong := append(w.model(before).problems(), w.wrongLeaves(t)...)
	var found []string
	for _, p := range w.problems(t, fsck.Key{}) {
		found = append(found, fmt.Sprintf("%s %d%s", p.Kind, number(p.ID), p.Leaves))
	}
	slices.Sort(wrong)
	if slices.Sort(found); !slices.Equal(found, wrong) {
		t.Fatalf("found\n%q, want\n%q, in\n%v", found, wrong, nodes)
	}
	planned, dry := w.repair(t, fsck.RepairOptions{AllowMoves: true, BatchRows: 1 + random.IntN(5)})
	if after := w.rows(t); !maps.Equal(before, after) {
		t.Fatalf("the dry run changed\n%s", difference(before, after))
	}
	if random.IntN(2) == 0 {
		replayed := w.repairInPieces(t, random)
		if got := w.rows(t); !maps.Equal(replayed, got) {
			t.Errorf("what the logs say, and what the table has:\n%s", difference(replayed, got))
		}
		whole := newWorld(t, database, shape)
		whole.insertAsAllowed(t, nodes)
		whole.repair(t, fsck.RepairOptions{Apply: true, AllowMoves: true})
		// The keys of created rows may differ.
		if want, got := places(whole.rows(t), len(nodes)), places(w.rows(t), len(nodes)); !maps.Equal(want, got) {
			t.Errorf("after interruptions, and after none:\n%s", difference(got, want))
		}
	} else {
		done, summary := w.repair(t, fsck.RepairOptions{Apply: true, AllowMoves: true, BatchRows: 1 + random.IntN(5)})
		for _, c := range done {
			if c.Why == fsck.Duplicate && slices.Contains(wrong, fmt.Sprintf("%s %d", fsck.Lookalike, number(c.ID))) {
				t.Errorf("the change of a row with a lookalike says why: %+v", c)
			}
		}
		// In a dry run, nobody knows which names the collation treats as equal.
		said, did := values(planned), values(done)
		maps.DeleteFunc(did, func(place, value string) bool { // a path that was put aside meanwhile
			id, column, _ := strings.Cut(place, " ")
			return column == "path suites" && before[number(fsck.TextKey(id))].Path == value
		})
		if !shape.loose && (!maps.Equal(said, did) || !maps.Equal(dry.After.Problems, summary.After.Problems)) {
			t.Errorf("planned, and done:\n%s\nleft: %v, and after a dry run %v", difference(said, did), summary.After.Problems, dry.After.Problems)
		}
	}
	w.mended(t, before, wrong)
	if again, _ := w.repair(t, fsck.RepairOptions{Apply: true, AllowMoves: true}); len(again) > 0 {
		t.Errorf("a second repair changed %v", again)
	}
}

// mended compares the table after a repair with what it was before, and with what was wrong then.
func (w *world) mended(t *testing.T, before map[int]Node, wrong []string) {
	t.Helper()
	after := w.rows(t)
	moves := make(map[int]bool)
	for _, problem := range wrong {
		kind, id, _ := strings.Cut(problem, " ")
		if !slices.Contains([]fsck.Kind{fsck.WrongPath, fsck.WrongIDPath}, fsck.Kind(kind)) {
			n, _ := strconv.Atoi(id)
			moves[n] = true
		}
	}
	for id, n := range before {
		now, there := after[id]
		switch {
		case !there || now.Deleted != n.Deleted || !n.Deleted && now.Tree != n.Tree:
			t.Errorf("row %d was %+v, and is %+v", id, n, now)
		case n.Deleted && now != n:
			t.Errorf("the deleted row %d was %+v, and is %+v", id, n, now)
		case !moves[id] && !w.loose && (now.Parent != n.Parent || now.Name != n.Name):
			t.Errorf("row %d had no problem, was %+v, and is %+v", id, n, now)
		}
	}
	w.sound(t, after)
	if left := w.wrongLeaves(t); len(left) > 0 {
		t.Errorf("leaves: %q", left)
	}
}

// insertAsAllowed writes rows in random order. A row that a unique index refuses gets other names
// and paths. It returns the rows as they are.
func (w *world) insertAsAllowed(t *testing.T, nodes []Node) []Node {
	t.Helper()
	nodes = slices.Clone(nodes)
	for i := range nodes {
		n := &nodes[i]
		for _, change := range []func(){
			func() {}, func() { n.Path, n.IDPath = fmt.Sprint("/u", n.ID), fmt.Sprint("/u", n.ID) }, func() { n.Name = fmt.Sprint("m", n.ID) },
		} {
			change()
			if _, err := w.db.ExecContext(t.Context(), w.bind(insertion), w.values(*n)...); err == nil {
				break
			}
		}
	}
	return nodes
}

// values returns the last values of the changed rows, without created ones. The size of
// transactions may change the order in which a repair changes the rows of several trees, but not
// their last values.
func values(changes []fsck.Change) map[string]string {
	last := make(map[string]string)
	for _, c := range changes {
		if c.Insert || c.Column == "id_path" || c.Column == "parent_id" {
			continue // may contain the key of a created row
		}
		last[fmt.Sprintf("%v %s %s", c.ID, c.Column, c.Table)] = fmt.Sprint(c.New)
	}
	return last
}

// errKilled ends a repair early.
var errKilled = errors.New("killed")

// killer is a log that fails after some lines.
type killer struct {
	bytes.Buffer
	lines int
	// committed is set if it failed at the line that says that a transaction was committed.
	committed bool
}

func (k *killer) Write(p []byte) (int, error) {
	if k.lines--; k.lines < 0 {
		k.committed = bytes.Contains(p, []byte(`"commit":true`))
		return 0, errKilled
	}
	return k.Buffer.Write(p)
}

// repairInPieces ends repairs at random points, until one completes. It returns the rows according
// to the logs.
func (w *world) repairInPieces(t *testing.T, random *rand.Rand) map[int]Node {
	t.Helper()
	replayed := w.rows(t)
	for {
		log := &killer{lines: 1 + random.IntN(30)}
		_, err := w.checker(t).Repair(t.Context(), fsck.RepairOptions{Apply: true, AllowMoves: true, BatchRows: 3, Log: log})
		w.replay(t, replayed, log)
		if err == nil {
			return replayed
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
}

// difference shows where two maps differ.
func difference[K, V comparable](a, b map[K]V) string {
	only := func(a, b map[K]V) map[K]V {
		rest := maps.Clone(a)
		maps.DeleteFunc(rest, func(k K, v V) bool {
			other, there := b[k]
			return there && other == v
		})
		return rest
	}
	return fmt.Sprintf("%v\n%v", only(a, b), only(b, a))
}

// places returns the keys of the live rows by their paths, 0 for created rows.
func places(rows map[int]Node, size int) map[string]int {
	places := make(map[string]int)
	for id, n := range rows {
		if id > size {
			n.IDPath, id = "", 0
		}
		if !n.Deleted {
			places[fmt.Sprint(n.Tree, " ", n.Name, " ", n.Path, " ", id)] = id
		}
	}
	return places
}

// replay applies the committed changes of a log to rows.
func (w *world) replay(t *testing.T, rows map[int]Node, log *killer) {
	t.Helper()
	type line struct {
		Transaction int `json:"tx"`
		ID, Tree    any
		Insert      bool
		Column      string
		Table       string
		Old, New    any
		Commit      bool
		Run         string
	}
	text := func(v any) string { return fmt.Sprint(cmp.Or(v, any(null))) }
	number := func(v any) int {
		n, _ := v.(float64)
		return int(n)
	}
	var open []line
	apply := func() {
		for _, c := range open {
			id := number(c.ID)
			n, there := rows[id]
			if !there {
				n = w.understood(Node{ID: id, Tree: number(c.Tree), Path: null})
			}
			column := map[string]*string{"name": &n.Name, "path": &n.Path, "id_path": &n.IDPath}[c.Column]
			switch {
			case !c.Insert && !there, column != nil && !c.Insert && text(c.Old) != *column:
				t.Errorf("the log has %+v of the row %+v", c, n)
			case column != nil:
				*column = text(c.New)
			default:
				n.Parent = max(number(c.New), 0)
			}
			rows[id] = n
		}
		open = nil
	}
	for written := range bytes.Lines(log.Bytes()) {
		var l line
		if err := json.Unmarshal(written, &l); err != nil {
			t.Fatalf("the log has %q: %v", written, err)
		}
		switch {
		case l.Run != "", l.Table == "cases":
		case l.Commit:
			apply()
		case len(open) > 0 && open[0].Transaction != l.Transaction:
			open = []line{l} // the transaction before was not committed
		default:
			open = append(open, l)
		}
	}
	if log.committed {
		apply()
	}
}
