package fsck

import (
	"testing"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// damages are kinds of damage, as the nth of many rows has each below the root row.
var damages = map[string]func(n int64) *row{
	"siblings of one name": func(int64) *row { return &row{seat: seat{parent: Key{int64(1)}, name: "x"}} },
	"orphans of one parent": func(int64) *row {
		return &row{seat: seat{parent: Key{int64(1 << 40)}, name: "x"}, fault: faultMissing}
	},
	"names that no path can have": func(int64) *row { return &row{seat: seat{parent: Key{int64(1)}, name: "x/"}} },
	"cycles":                      func(n int64) *row { return &row{seat: seat{parent: Key{n ^ 1}, name: "x"}} },
	"rows beside a root row":      func(int64) *row { return &row{seat: seat{name: "x"}} },
}

// plantDamage returns a table of so many rows with one kind of damage.
func plantDamage(rows int64, damaged func(n int64) *row) *forest {
	f := &forest{
		catalogue: &catalogue{
			dialect: dialect.SQLite, table: Table{Table: "t", Namespace: "n", Key: "id", Parent: "parent", Name: "name", Path: "path", SingleTree: "t"},
			pathForm: treetable.DefaultForm, schema: map[string]treeschema.Column{"path": {Length: 3000}},
		},
		byKey: make(map[Key]*row), roots: make(map[Key]*row), alike: make(map[*row]*row),
	}
	for n := int64(1); n <= rows; n++ {
		r := &row{}
		if n > 1 {
			r = damaged(n)
		}
		r.key, r.tree, r.order = Key{n}, TextKey("t"), int32(n)
		f.rows, f.byKey[r.key] = append(f.rows, r), r
	}
	for _, r := range f.rows {
		r.up = f.byKey[r.parent]
	}
	f.roots[TextKey("t")] = f.rows[0]
	f.locate()
	return f
}

// What the plan of a repair costs grows with the rows, and not with their square: each name that is
// tried is a new text, and each list that grows is memory.
func TestPlan_CostsWhatItsRowsCost(t *testing.T) {
	for what, damaged := range damages {
		t.Run(what, func(t *testing.T) {
			costs := func(rows int64) float64 {
				return testing.AllocsPerRun(1, func() {
					f := plantDamage(rows, damaged)
					r := &repair{Checker: &Checker{f.catalogue}, creations: make(map[*row]*creation)}
					if p := r.newPlan(f); len(p.edits) < int(rows)/2-1 {
						t.Fatalf("%d of %d rows are edited", len(p.edits), rows)
					}
					f.locate()
					left, err := f.tell(func(Problem) error { return nil })
					if delete(left.Problems, WrongPath); err != nil || left.Total() > 0 {
						t.Fatalf("left are %v: %v", left.Problems, err)
					}
				})
			}
			const few, many = 500, 4000
			// Maps grow in steps, so that a quarter more is none of the rows' cost.
			if a, b := costs(few), costs(many); b > 1.25*a*many/few {
				t.Errorf("%d rows take %.0f allocations, %d take %.0f", few, a, many, b)
			}
		})
	}
}

// A key comes as text or as bytes, as the driver has it. Only bytes that the column holds are in
// hexadecimal.
func TestReadKey_ofTextAsBytes(t *testing.T) {
	for _, d := range []*dialect.Dialect{dialect.MySQL, dialect.PostgreSQL} {
		for kind, want := range map[dialect.ColumnKind]string{dialect.UUID: "a-1", dialect.Text: "a-1", dialect.Bytes: "612d31"} {
			c := &catalogue{dialect: d, kinds: map[string]dialect.ColumnKind{"id": kind}}
			if key, err := c.readKey("id", []byte("a-1")); err != nil || key.String() != want {
				t.Errorf("%s: the bytes of a column of kind %d are the key %v (%v), want %s", d.Name, kind, key, err, want)
			}
		}
	}
}
