package fscktest

import (
	"bytes"
	"context"
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

// tries returns the number of random trees to try: least, or more by PATHLOCK_TEST_TRIES.
func tries(least int) int {
	if n, err := strconv.Atoi(os.Getenv("PATHLOCK_TEST_TRIES")); err == nil {
		return max(n, least)
	}
	return least
}

// randomSeed returns a random seed, or the one in PATHLOCK_TEST_SEED, to repeat a failure.
func randomSeed() uint64 {
	if seed, err := strconv.ParseUint(os.Getenv("PATHLOCK_TEST_SEED"), 10, 64); err == nil {
		return seed
	}
	return rand.Uint64()
}

// eachSeed runs a test with random numbers of a new seed, which its name says, at least as many
// times.
func eachSeed(t *testing.T, least int, test func(t *testing.T, random *rand.Rand)) {
	t.Helper()
	for range tries(least) {
		seed := randomSeed()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { test(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

// forest returns random sound trees, and then damages random rows.
func forest(random *rand.Rand, size int) []Node {
	nodes := make([]Node, 0, size)
	for id := 1; id <= size; id++ {
		n := Node{ID: id, Tree: 1 + random.IntN(2)}
		if above := pick(random, nodes, n.Tree); above != nil { // otherwise it is the root row
			n.Parent, n.Name = above.ID, fmt.Sprintf("n%d", id)
			n.Path = above.Path + "/" + n.Name
		}
		nodes = append(nodes, n)
	}
	ids := random.Perm(size) // parents have greater and smaller keys than their children
	rename := func(id int) int {
		if id == 0 {
			return 0
		}
		return ids[id-1] + 1
	}
	for i := range nodes {
		nodes[i].ID, nodes[i].Parent = rename(nodes[i].ID), rename(nodes[i].Parent)
		nodes[i].IDPath = "stale"
	}
	names := []string{"a", "b", "A", "a (2)", "", "..", "x/y", "a\x01", "lost+found"}
	for range random.IntN(size / 2) {
		n := &nodes[random.IntN(size)]
		switch random.IntN(8) {
		case 0, 1:
			n.Parent = nodes[random.IntN(size)].ID // another tree's row, a descendant, itself, …
		case 2:
			n.Parent = size + 1 + random.IntN(3)
		case 3:
			n.Parent = 0
		case 4, 5:
			n.Name = names[random.IntN(len(names))]
		case 6:
			n.Path = nodes[random.IntN(size)].Path + "/old"
		case 7:
			n.Deleted = true
		}
	}
	return nodes
}

// pick returns a random row of a tree, or nil.
func pick(random *rand.Rand, nodes []Node, tree int) *Node {
	for _, i := range random.Perm(len(nodes)) {
		if nodes[i].Tree == tree {
			return &nodes[i]
		}
	}
	return nil
}

// testRandom repairs random trees with random damage, on tables of several shapes. The outcome is
// sound, no row is lost, a dry run says what is done, and a second repair changes nothing.
func testRandom(t *testing.T, database Database) {
	for what, shape := range map[string]schema{
		"plain": {}, "unique": {unique: true}, "keys are texts": {text: true}, "a loose collation": {collation: database.Loose},
		"a version": {unique: true, table: func(d *fsck.Table) { d.Version = "version" }},
	} {
		t.Run(what, func(t *testing.T) {
			eachSeed(t, 4, func(t *testing.T, random *rand.Rand) { testRandomShape(t, database, shape, random) })
		})
	}
}

func testRandomShape(t *testing.T, database Database, shape schema, random *rand.Rand) {
	nodes := forest(random, 10+random.IntN(60))
	if shape.unique { // which refuses siblings of one name
		taken := make(map[string]bool)
		for i := range nodes {
			n := &nodes[i]
			slot := fmt.Sprint(n.Tree, n.Parent, strings.ToLower(n.Name))
			if n.Parent != 0 && taken[slot] {
				n.Name = fmt.Sprintf("m%d", n.ID)
			}
			taken[slot] = true
		}
	}
	w := newWorld(t, database, shape)
	random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	w.insert(t, nodes...)
	before := w.rows(t)
	planned, dry := w.repair(t, fsck.RepairOptions{BatchRows: 1 + random.IntN(5)})
	done, summary := w.repair(t, fsck.RepairOptions{Apply: true, BatchRows: 1 + random.IntN(5)})
	after := w.rows(t)
	w.sound(t, after)
	for id, n := range before {
		if after[id].Tree != n.Tree {
			t.Errorf("row %d is lost, or in another tree", id)
		}
	}
	if summary.After.Total() > 0 || dry.After.Total() > 0 {
		t.Errorf("left: %v, and after a dry run %v", summary.After.Problems, dry.After.Problems)
	}
	// In a dry run, nobody knows which names the collation treats as equal.
	if planned, done := values(planned), values(done); shape.collation == "" && !maps.Equal(planned, done) {
		t.Errorf("planned, and done:\n%s", difference(planned, done))
	}
	if again, _ := w.repair(t, fsck.RepairOptions{Apply: true}); len(again) > 0 {
		t.Errorf("a second repair changed %v", again)
	}
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
		last[fmt.Sprintf("%v %s", c.ID, c.Column)] = fmt.Sprint(c.New)
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

// testInterrupted ends repairs at random points, until one completes. The table is then as after
// one uninterrupted repair, and the logs together have all changes.
func testInterrupted(t *testing.T, database Database) {
	eachSeed(t, 3, func(t *testing.T, random *rand.Rand) {
		nodes := forest(random, 60)
		whole, pieces := newWorld(t, database, schema{}), newWorld(t, database, schema{})
		whole.insert(t, nodes...)
		pieces.insert(t, nodes...)
		whole.repair(t, fsck.RepairOptions{Apply: true, BatchRows: 7})
		replayed, interruptions := pieces.repairInPieces(t, random)
		want, got := whole.rows(t), pieces.rows(t)
		// The keys of created rows differ if the database does not generate those of a
		// rolled-back transaction again.
		if want, got := places(want), places(got); !maps.Equal(want, got) {
			t.Errorf("after %d interruptions, and after none:\n%s", interruptions, difference(got, want))
		}
		if !maps.Equal(replayed, got) {
			t.Errorf("what the logs say, and what the table has:\n%s", difference(replayed, got))
		}
		t.Logf("%d interruptions", interruptions)
	})
	t.Run("by the end of the context", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.insert(t, forest(rand.New(rand.NewPCG(1, 1)), 60)...)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var log bytes.Buffer
		_, err := w.checker(t).Repair(ctx, fsck.RepairOptions{Apply: true, BatchRows: 3, Log: lineLog(func(line []byte) (int, error) {
			if bytes.Contains(line, []byte(`"column"`)) {
				cancel() // in the middle of a transaction
			}
			return log.Write(line)
		})})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want one that matches context.Canceled", err)
		}
		if lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n")); !bytes.Contains(lines[len(lines)-1], []byte(`"commit":true`)) {
			t.Errorf("the log ends with %s, want the end of a transaction", lines[len(lines)-1])
		}
	})
}

// repairInPieces ends repairs at random points, until one completes. It returns the rows according
// to the logs, and the number of repairs that were ended.
func (w *world) repairInPieces(t *testing.T, random *rand.Rand) (replayed map[int]Node, interruptions int) {
	t.Helper()
	replayed = w.rows(t)
	for {
		log := &killer{lines: 1 + random.IntN(30)}
		_, err := w.checker(t).Repair(t.Context(), fsck.RepairOptions{Apply: true, BatchRows: 3, Log: log})
		replay(t, replayed, log)
		if err == nil {
			return replayed, interruptions
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		interruptions++
	}
}

// difference shows where two maps differ.
func difference[K, V comparable](a, b map[K]V) string {
	var text strings.Builder
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			_, _ = fmt.Fprintf(&text, "%v: %v, %v\n", k, v, w)
		}
	}
	for k, w := range b {
		if _, ok := a[k]; !ok {
			_, _ = fmt.Fprintf(&text, "%v: none, %v\n", k, w)
		}
	}
	return text.String()
}

// places returns the keys of the rows by their paths, 0 for created rows.
func places(rows map[int]Node) map[string]int {
	places := make(map[string]int)
	for id, n := range rows {
		if n.Name == fsck.DefaultLostFound && id > 60 {
			id = 0
		}
		places[fmt.Sprint(n.Tree, " ", n.Path)] = id
	}
	return places
}

// replay applies the committed changes of a log to rows.
func replay(t *testing.T, rows map[int]Node, log *killer) {
	t.Helper()
	type line struct {
		Transaction int `json:"tx"`
		Tree, ID    int
		Insert      bool
		Column      string
		Old, New    any
		Commit      bool
		Run         string
	}
	var open []line
	apply := func() {
		for _, c := range open {
			n, ok := rows[c.ID]
			if ok == c.Insert && n.ID == 0 {
				t.Errorf("the log changes row %d, which does not exist", c.ID)
			}
			n.ID, n.Tree = c.ID, c.Tree
			text := func(v any) string {
				switch v := v.(type) {
				case nil:
					return ""
				case float64:
					return strconv.FormatFloat(v, 'f', -1, 64)
				default:
					return fmt.Sprint(v)
				}
			}
			if is, ok := map[string]string{"name": n.Name, "path": n.Path, "id_path": n.IDPath}[c.Column]; ok && !c.Insert && text(c.Old) != is {
				t.Errorf("the log says that row %d had %s %q, but it had %q", c.ID, c.Column, text(c.Old), is)
			}
			switch c.Column {
			case "parent_id":
				n.Parent, _ = strconv.Atoi(text(c.New))
			case "name":
				n.Name = text(c.New)
			case "path":
				n.Path = text(c.New)
			case "id_path":
				n.IDPath = text(c.New)
			}
			rows[c.ID] = n
		}
	}
	for _, text := range slices.Collect(bytes.Lines(log.Bytes())) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("the log has %q: %v", text, err)
		}
		switch {
		case l.Run != "":
		case l.Commit:
			apply()
			open = nil
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
