package fsck

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// stride is the number of rows that one recursive query climbs; MySQL allows 1000.
const stride = 500

// nearby is the number of rows at the start of a long climb whose places are remembered.
const nearby = memoEntries / 2

// longClimb finds the place of a row with more rows above it than a path can have names. The row is
// too deep, or it is below an orphan or a cycle, at any distance. Brent's algorithm finds the end
// of the way with one row in memory (R. P. Brent, An improved Monte Carlo factorization algorithm,
// BIT 20, 1980).
func (w *walk) longClimb(ctx context.Context, start Key) (place, error) {
	var (
		near     []Key
		steps    int
		tortoise Key
		power    = 1
		length   = 0
		end      place
		found    bool
	)
	look := func(r *row) (bool, error) {
		if p, ok := w.memo.get(r.key); ok {
			end, found = p, true
			end.depth++ // the depth of the row below
			return false, nil
		}
		if steps > 0 {
			length++
			if r.key == tortoise {
				end, found = place{state: cyclic, cycle: &cycle{first: tortoise, length: length}}, true
				return false, nil
			}
		}
		if steps == 0 || length == power {
			if steps > 0 {
				power *= 2
			}
			tortoise, length = r.key, 0
		}
		steps++
		if len(near) < nearby {
			near = append(near, r.key)
		}
		if p, ends := r.terminalPlace(); ends {
			end, found = p, true
			return false, nil
		}
		return true, nil
	}
	if err := w.upwards(ctx, start, look); err != nil {
		return place{}, err
	}
	if !found {
		end = place{state: detached} // the row is gone: its child is an orphan
	}
	if end.state == cyclic && end.cycle.members == nil {
		var err error
		if end.cycle, err = w.survey(ctx, *end.cycle); err != nil {
			return place{}, err
		}
	}
	for i, k := range near {
		if end.state == placed && end.depth+steps-1-i <= pathlock.MaxDepth {
			break // an ordinary climb finds their places
		}
		p := end
		if end.state == placed {
			p = place{state: tooDeep}
		}
		w.known[k] = p
		w.memo.put(k, p)
	}
	if p, ok := w.known[start]; ok {
		return p, nil
	}
	rows, err := w.byKeys(ctx, []Key{start}, false)
	if err != nil || len(rows) == 0 {
		return place{state: detached}, err
	}
	places, err := w.places(ctx, rows)
	if err != nil {
		return place{}, err
	}
	return places[0], nil
}

// survey goes once round a cycle, of which c has one row.
func (w *walk) survey(ctx context.Context, c cycle) (*cycle, error) {
	left := c.length
	err := w.upwards(ctx, c.first, func(r *row) (bool, error) {
		if r.key.Compare(c.first) < 0 {
			c.first = r.key
		}
		left--
		return left > 0, nil
	})
	if err != nil {
		return nil, err
	}
	err = w.upwards(ctx, c.first, func(r *row) (bool, error) {
		c.members = append(c.members, r.key)
		return len(c.members) < min(cycleMembers, c.length), nil
	})
	return &c, err
}

// upwards calls f for the row start and for each row above it, until f returns false or no row is
// left.
func (w *walk) upwards(ctx context.Context, start Key, f func(*row) (bool, error)) error {
	table, cols, parent, up := w.dialect.quote(w.table.Table), w.columnsAs("c"), w.columnsAs("p"), w.columnsAs("t")
	query := fmt.Sprintf(`WITH RECURSIVE up (n, k, above) AS (
			SELECT 1, %[1]s, %[2]s FROM %[3]s AS t WHERE %[1]s = ?
			UNION ALL
			SELECT up.n + 1, %[1]s, %[2]s FROM up JOIN %[3]s AS t ON %[1]s = up.above WHERE up.n < %[4]d
		)
		SELECT %[5]s, %[6]s, %[7]s, %[8]s, NULL, NULL, %[9]s,
			CASE WHEN %[9]s IS NULL THEN 1 WHEN NOT (%[10]s) THEN 2 WHEN %[11]s THEN 3 ELSE 0 END
		FROM up JOIN %[3]s AS c ON %[5]s = up.k LEFT JOIN %[3]s AS p ON %[9]s = %[7]s ORDER BY up.n`,
		up.key, up.parent, table, stride, cols.key, cols.tree, cols.parent, cols.name, parent.key, parent.live, w.dialect.differs(parent.tree, cols.tree))
	for at := start; !at.IsZero(); {
		rows := []*row{w.plan.row(at)}
		if rows[0] == nil {
			var err error
			if rows, err = w.rows(ctx, query, at.arg()); err != nil {
				return err
			}
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			if r.key != at {
				break // a dry run has moved the row below
			}
			more, err := f(r)
			if err != nil || !more {
				return err
			}
			at = r.above
		}
	}
	return nil
}
