package fscktest

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

//go:embed testdata/cases.txt
var cases string

var repeated = regexp.MustCompile(`\{(.)\*(\d+)\}`)

// testCases plays the cases of testdata/cases.txt.
func testCases(t *testing.T, database Database) {
	text := repeated.ReplaceAllStringFunc(cases, func(all string) string {
		match := repeated.FindStringSubmatch(all)
		n, _ := strconv.Atoi(match[2])
		return strings.Repeat(match[1], n)
	})
	text = strings.ReplaceAll(text, "{loose}", database.Loose)
	for _, part := range strings.Split(text, "\n## ")[1:] {
		heading, steps, _ := strings.Cut(part, "\n")
		what, words, _ := strings.Cut(heading, ": ")
		name, only, _ := strings.Cut(what, " [")
		t.Run(name, func(t *testing.T) {
			if only != "" && !strings.Contains(only, string(database.Dialect)) {
				t.Skip("not on this database")
			}
			newCase(t, database, strings.Fields(words), steps).play(t, steps)
		})
	}
}

// tableCase is a table on which a case is played.
type tableCase struct {
	*world
	log        bytes.Buffer
	when, then string // run a statement as soon as the log has a text
	unique     bool   // no dry run knows what an index holds equal
	other      *sql.Tx
	free       []int // the rows that others could lock when the log had the text
}

// play carries out the steps, and compares the outcome of each with the indented lines below it.
func (c *tableCase) play(t *testing.T, steps string) {
	lines := strings.Split(steps, "\n")
	for len(lines) > 0 {
		step := lines[0]
		var want []string
		for lines = lines[1:]; len(lines) > 0 && strings.HasPrefix(lines[0], "  "); lines = lines[1:] {
			want = append(want, strings.TrimSpace(lines[0]))
		}
		got := c.step(t, step)
		if !slices.EqualFunc(got, want, func(got, want string) bool {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "(?s:.*)")
			return regexp.MustCompile("^" + pattern + "$").MatchString(got)
		}) {
			t.Errorf("%s:\n  %s\nwant\n  %s", step, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

// step carries out one step.
func (c *tableCase) step(t *testing.T, line string) (outcome []string) {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "", "column":
	case "tree":
		c.insert(t, usual...)
	case "sql":
		if sql, here := ofDialect(c.Dialect, rest); here {
			c.exec(t, sql)
		}
	case "hold":
		var err error
		c.other, err = c.db.BeginTx(t.Context(), nil)
		testerr.Must(t, err)
		testerr.Must(t, testerr.Of(c.other.ExecContext(t.Context(), rest)))
	case "free":
		testerr.Must(t, c.other.Rollback())
	case "chain":
		last, _ := strconv.Atoi(rest)
		for id := 1; id <= last; id++ {
			c.insert(t, Node{ID: id, Tree: 1, Parent: id - 1, Name: "n"})
		}
	case "when":
		c.when, c.then, _ = strings.Cut(rest, ": ")
	case "not":
		if unwanted := strings.TrimPrefix(rest, "logged "); strings.Contains(c.log.String(), unwanted) {
			return []string{c.log.String()}
		}
	case "check":
		return c.check(t, strings.TrimPrefix(rest, "tree="))
	case "repair":
		return c.mend(t, strings.Fields(rest))
	default:
		cells := append(strings.Split(line, "|"), "")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		id, _ := strconv.Atoi(cells[0])
		tree, _ := strconv.Atoi(cells[1])
		parent, _ := strconv.Atoi(cells[2])
		c.insert(t, Node{id, tree, parent, cells[3], cells[4], cells[5], cells[6] == "deleted"})
	}
	return nil
}

// check checks the table, or the tree of a number.
func (c *tableCase) check(t *testing.T, tree string) []string {
	t.Helper()
	var opts fsck.Options
	if tree != "" {
		opts.Tree = fsck.TextKey(tree) // a number may be given as text
	}
	var found []string
	var summary fsck.Summary
	checker, err := fsck.New(t.Context(), c.db, c.Dialect, c.table)
	if err == nil {
		summary, err = checker.Check(t.Context(), opts, func(p fsck.Problem) error {
			found = append(found, fmt.Sprintf("%s %v", p.Kind, p.ID))
			return nil
		})
	}
	if errors.Is(err, fsck.ErrTable) {
		return []string{"ErrTable: " + err.Error()}
	} else if err != nil {
		t.Error(err)
	}
	return append([]string{fmt.Sprint(summary.Rows, " rows")}, found...)
}

// Write implements [io.Writer]: it is the log.
func (c *tableCase) Write(line []byte) (int, error) {
	if c.when == "" || !bytes.Contains(line, []byte(c.when)) {
		return c.log.Write(line)
	}
	c.when = ""
	if c.then == "look" {
		c.free = []int{}
		for id := range 5 {
			if c.db.QueryRowContext(context.Background(), fmt.Sprintf("SELECT id FROM suites WHERE id = %d FOR UPDATE NOWAIT", id+1)).Scan(new(int)) == nil {
				c.free = append(c.free, id+1)
			}
		}
	} else if _, err := c.db.ExecContext(context.Background(), c.then); err != nil {
		return 0, err
	}
	return c.log.Write(line)
}

// mend repairs the table, and describes the outcome. Where nobody interferes, a dry run predicts
// the same.
func (c *tableCase) mend(t *testing.T, words []string) (outcome []string) {
	t.Helper()
	opts, within := fsck.RepairOptions{AllowMoves: slices.Contains(words, "moves"), LostFound: map[string]string{}}, time.Hour
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		d, _ := time.ParseDuration(value)
		switch name {
		case "batch":
			opts.BatchRows = n
		case "tree":
			opts.Tree = fsck.IntKey(int64(n))
		case "wait":
			opts.Wait = d
		case "within":
			within = d
		case "lost-found":
			column, is, _ := strings.Cut(value, "=")
			opts.LostFound[column] = is
		}
	}
	before, quiet := c.rows(t), c.when == "" && !c.unique
	planned, _, err := c.tryRepair(t.Context(), t, opts)
	if errors.Is(err, fsck.ErrTable) {
		return []string{"ErrTable: " + err.Error()}
	}
	testerr.Must(t, err)
	var skipped []string
	opts.Apply, opts.Log = true, c
	opts.Skipped = func(s fsck.Skip) error {
		skipped = append(skipped, "skipped "+s.String())
		return nil
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	done, summary, err := c.tryRepair(ctx, t, opts)
	if errors.Is(err, context.DeadlineExceeded) && time.Since(begun) < 20*time.Second {
		return []string{"the context ends"}
	}
	testerr.Must(t, err)
	if said, did := values(planned), values(done); quiet && len(skipped) == 0 && !maps.Equal(said, did) {
		t.Errorf("planned, and done:\n%s", difference(said, did))
	}
	if c.when != "" || int(summary.Skipped) != len(skipped) {
		t.Errorf("%d are skipped, %d are reported; has not come: %q", summary.Skipped, len(skipped), c.when)
	}
	after := c.rows(t)
	for _, change := range done {
		if change.Column == c.table.Depth && change.Column != "" {
			id := change.ID.String()
			if _, known := before[number(change.ID)]; !known && change.Table == "suites" {
				id = "new"
			}
			outcome = append(outcome, fmt.Sprintf("%s of %s %s is %v: %s", change.Column, change.Table, id, change.New, change.Why))
		}
	}
	slices.Sort(outcome)
	if !slices.Contains(words, "counts") {
		outcome = slices.Concat(outcome, changed(before, after), skipped)
	}
	if c.free != nil {
		outcome = append(outcome, fmt.Sprint("free ", c.free))
	}
	for _, kind := range slices.Sorted(maps.Keys(summary.After.Problems)) {
		outcome = append(outcome, fmt.Sprint("left ", kind, " ", summary.After.Problems[kind]))
	}
	if summary.After.Total() == 0 && opts.Tree.IsZero() {
		c.sound(t, after)
	}
	return outcome
}

// usual is the tree of most cases.
var usual = []Node{
	{1, 1, 0, "", "", "/1", false}, {2, 1, 1, "a", "/a", "/1/2", false}, {3, 1, 2, "b", "/a/b", "/1/2/3", false}, {4, 1, 1, "c", "/c", "/1/4", false},
}

// changed returns the rows that differ from before, as text: key, parent, name and path. The key of
// a created row is "new".
func changed(before, after map[int]Node) []string {
	var lines, created []string
	for _, id := range slices.Sorted(maps.Keys(after)) {
		n := after[id]
		if old, ok := before[id]; ok && old.Parent == n.Parent && old.Name == n.Name && old.Path == n.Path && old.IDPath == n.IDPath {
			continue
		}
		parent := fmt.Sprint(n.Parent)
		if _, ok := before[n.Parent]; !ok && n.Parent != 0 {
			parent = "new"
		}
		if _, ok := before[id]; !ok {
			created = append(created, fmt.Sprintf("new %s %s %s", parent, n.Name, n.Path))
			continue
		}
		lines = append(lines, fmt.Sprintf("%d %s %s %s", id, parent, n.Name, n.Path))
	}
	return append(created, lines...)
}
