package fsck

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
)

// DefaultLostFound is the default name of the row at the top of a tree below which orphans and
// broken cycles go.
const DefaultLostFound = "lost+found"

// lostFound returns the parent for orphans and broken cycles of r's tree: the lost+found, which it
// creates if necessary, or with toTop the top of the tree. The row stays locked until the
// transaction ends, so that nobody deletes it.
func (e *editor) lostFound(ctx context.Context, r *row) (Key, error) {
	root, err := e.root(ctx, r.tree)
	if err != nil {
		return Key{}, err
	}
	home := row{tree: r.tree}
	if root != nil {
		home.parent, home.above = root.key, root.key
	} else if home.parent, err = e.noParent(ctx, r.tree); err != nil {
		return Key{}, err
	}
	if e.toTop {
		return home.parent, nil
	}
	if key, ok := e.known.lostFounds[r.tree]; ok {
		return key, nil
	}
	if why, ok := e.known.noLostFound[r.tree]; ok {
		return Key{}, skipError{why}
	}
	for n := 1; ; n++ {
		home.name = numbered(e.lostFoundName, n, e.limits[e.table.Name])
		key, taken, err := e.namesake(ctx, &home)
		switch {
		case err != nil:
			return Key{}, err
		case key.IsZero() && taken:
			continue // a deleted row or a lookalike has the name
		case key.IsZero():
			err := e.create(ctx, &home, r.key)
			if isDuplicate(err) && e.careful && n < renumberings {
				continue // the index treats more names as equal than the column
			}
			if err != nil {
				return Key{}, err
			}
			key = home.key
		case e.locks:
			there, err := e.byKey(ctx, key)
			if err != nil {
				return Key{}, err
			}
			if there == nil || there.name != home.name || e.sibling(there).parent != e.sibling(&home).parent {
				n-- // it has changed since the query
				continue
			}
		}
		e.known.lostFounds[r.tree] = key
		return key, nil
	}
}

// noParent returns the parent value of the rows at the top: NULL, 0, or the nil UUID. It looks in
// the tree first, then in the whole table. Without any row at the top it is NULL.
func (e *editor) noParent(ctx context.Context, tree Key) (none Key, err error) {
	cols := e.columnsAs("c")
	first, args := e.among(cols.parent, e.tops(tree.arg()), cols.live)
	whole := fmt.Sprintf("SELECT %s FROM %s AS c WHERE %s AND %s", cols.parent, e.dialect.quote(e.table.Table), cols.isTop, cols.live)
	for _, query := range []struct {
		text string
		args []any
	}{{first, args}, {whole, nil}} {
		found := false
		err = e.eachKey(ctx, query.text+" LIMIT 1", query.args, e.table.Parent, func(key Key) { none, found = key, true })
		if found || err != nil {
			break
		}
	}
	return none, err
}

// namesake returns the live sibling with exactly r's name; of several, the one with the smallest
// key. taken says whether any sibling, live or deleted, has a name that the database treats as
// equal.
func (e *editor) namesake(ctx context.Context, r *row) (key Key, taken bool, err error) {
	places, err := e.siblingConditions(ctx, r)
	if err != nil {
		return key, false, err
	}
	cols := e.columnsAs("c")
	query, args := e.among(fmt.Sprintf("%s, %s, CASE WHEN %s THEN 1 ELSE 0 END", cols.key, cols.name, cols.live), places, cols.name+" = ?", r.name)
	err = e.each(ctx, query+" ORDER BY 1", args, func(scan func(...any) error) error {
		var value any
		var name sql.NullString
		var live int
		if err := scan(&value, &name, &live); err != nil {
			return err
		}
		found, err := e.readKey(e.table.Key, value)
		if e.plan.hasChanged(found) {
			return err
		}
		taken = true
		if key.IsZero() && live == 1 && e.unpadded(e.table.Name, name).String == r.name {
			key = found
		}
		return err
	})
	return key, taken, err
}

// create inserts a row at the top of its tree, with a key of the same kind as the key like. All
// columns that [Table] does not describe get their defaults.
func (e *editor) create(ctx context.Context, r *row, like Key) error {
	path, above := "/"+r.name, ""
	if !r.isTop() {
		above = "/" + r.parent.String()
	}
	if e.plan != nil {
		r.key = Key{freshKey(fmt.Sprintf("new:%d", len(e.known.lostFounds)+1))}
		e.plan.put(e.sibling(r), r)
		e.note(r, Orphan, true, e.created(r, path, above+"/"+r.key.String())...)
		return nil
	}
	paths := []assignment{{column: e.table.Path, new: path}, {column: e.table.IDPath}}
	// The id path contains the key, which is not known yet.
	set := e.created(r, path, asidePath(TextKey("tree "+r.tree.String()), e.limits[e.table.IDPath]))
	set = append(set, assignment{column: e.table.Tree, new: r.tree.value()})
	if !e.keyIsNumber() {
		r.key = derivedKey(e.table.Table, r.tree, like, e.limits[e.table.Key])
		set = append(set, assignment{column: e.table.Key, new: r.key})
	}
	query := fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s = ?", e.dialect.quote(e.table.Table), e.dialect.quote(e.table.IDPath), e.dialect.quote(e.table.Key))
	if err := e.clearing(ctx, r, paths, func() error {
		if err := e.insertUnknown(ctx, r, set); err != nil || e.table.IDPath == "" {
			return err
		}
		paths[1].new = above + "/" + r.key.String()
		_, err := e.tx.ExecContext(ctx, e.dialect.bind(query), paths[1].new, r.key.arg())
		return err
	}); err != nil {
		why := fmt.Errorf("create %q (create it yourself, or have orphans moved to the top): %w", r.name, err)
		if !isAnswer(err) && !errors.Is(err, errImpossible) || isRetryable(err) || isBusy(err) || isDuplicate(err) && !e.careful {
			return fmt.Errorf("fsck: repair %s: %w", e.table.Table, why)
		}
		if e.careful {
			e.known.noLostFound[r.tree] = why
			return skipError{why}
		}
		return fmt.Errorf("%w: %w", errCare, why)
	}
	e.note(r, Orphan, true, e.created(r, path, above+"/"+r.key.String())...)
	return nil
}

// created returns the values of a created row, apart from its key and its tree.
func (e *editor) created(r *row, path, idPath string) []assignment {
	set := []assignment{{column: e.table.Parent, new: r.parent.value()}, {column: e.table.Name, new: r.name}}
	if e.table.Path != "" {
		set = append(set, assignment{column: e.table.Path, new: path})
	}
	if e.table.IDPath != "" {
		set = append(set, assignment{column: e.table.IDPath, new: idPath})
	}
	return set
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
