package fsck

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// lostAndFound is the name of the row at the top of a tree below which orphans and broken cycles
// go.
const lostAndFound = "lost+found"

// creation is the edit that creates a lost+found.
type creation struct {
	edit
	// fresh is its key until then. made is set once it has been created.
	fresh Key
	made  bool
}

// freshKey is the key of a row that is planned, such as "new:1".
type freshKey string

// lostFound returns the row for orphans and broken cycles of a tree, which may have to be created.
func (p *plan) lostFound(tree Key) *row {
	top := seat{tree: tree, parent: p.noParent(tree)}
	root := p.roots[tree]
	if root != nil {
		top.parent = root.key
	}
	home := p.lostFounds[tree]
	for n := 1; home == nil; n++ {
		top.name = numbered(lostAndFound, n, p.limit(p.table.Name))
		at := p.slot(&top)
		taken := p.taken(at)
		// A live row may have the name, or a deleted one, or none.
		if i := slices.IndexFunc(p.named[at], func(r *row) bool { return r.state != unknown && p.slot(&r.seat) == at }); i >= 0 {
			home = p.named[at][i]
		} else if !taken {
			home = p.createdRow(top, root, n)
		}
	}
	p.lostFounds[tree] = home
	return home
}

// createdRow plans a row at the top of a tree.
func (p *plan) createdRow(at seat, root *row, number int) *row {
	p.created++
	r := &row{key: Key{freshKey(fmt.Sprintf("new:%d", p.created))}, seat: at, up: root}
	p.settleBelow(r, root)
	p.named[p.slot(&at)] = []*row{r}
	p.creations[r] = &creation{edit: edit{row: r, to: at, up: root, base: lostAndFound, number: number}, fresh: r.key}
	return r
}

// noParent returns the parent value of the rows at the top: NULL, 0, the nil UUID, or ParentTop. It
// looks in the tree first, then in all others. Without any row at the top it is ParentTop, if there
// is one, or NULL, if the column can be.
func (p *plan) noParent(tree Key) Key {
	if p.tops == nil {
		p.tops = make(map[Key]Key)
		for _, r := range slices.Backward(p.rows) {
			if r.isTop() {
				p.tops[r.tree], p.tops[Key{}] = r.parent, r.parent
			}
		}
	}
	for _, t := range []Key{tree, {}} {
		if none, known := p.tops[t]; known {
			return none
		}
	}
	return p.orphans
}

// derivedKey makes the key of a tree's lost+found, if keys are not numbers that the database
// generates. It depends on the tree and the name alone, since a renamed lost+found keeps its key,
// and has the form of the tree's other keys. A UUID has version 8 (RFC 9562, section 5.8).
func derivedKey(table string, of *row, like Key, most limit) Key {
	sum := sha256.Sum256([]byte("pathlock " + of.name + "\x00" + table + "\x00" + of.tree.String()))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	if b, binary := like.v.(binaryKey); binary {
		return Key{binaryKey(sum[:min(max(1, len(b)), len(sum))])}
	}
	if text, _ := like.v.(string); len(text) == 36 {
		return TextKey(fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
	}
	return TextKey(fit(fmt.Sprintf("%x", sum[:16]), most))
}

// checkLostFound refuses values for columns that are not there, or that follow from the tree.
func (c *catalogue) checkLostFound(given map[string]string) error {
	for column, value := range given {
		if _, known := c.others[column]; !known || column == c.table.Version {
			return fmt.Errorf("%w %q: a lost+found cannot be given a value in %q: there is no such column, or the repair itself sets it", ErrTable, c.table.Table, column)
		}
		if kind := c.kinds[column]; value == uniqueValue && kind != dialect.Text && kind != dialect.UUID {
			return fmt.Errorf("%w %q: %q holds no text, and so no %s", ErrTable, c.table.Table, column, uniqueValue)
		}
	}
	return nil
}

// other returns the value of a new row in a column that the table does not describe.
func (w *writer) other(ctx context.Context, r *row, column string, value any) (any, error) {
	switch value {
	case uniqueValue:
		return derivedKey(w.table.Table+"\x00"+column, r, Key{}, w.limit(column)).String(), nil
	case rowValue:
	default:
		return value, nil
	}
	as := w.columnsAs("c")
	query, args := fmt.Sprintf("SELECT c.%s FROM %s AS c WHERE %s", w.dialect.Quote(column), w.dialect.Quote(w.table.Table), as.live), []any{}
	if w.table.Tree != "" {
		query, args = query+" AND "+as.tree+" = ?", append(args, r.tree.arg())
	}
	ask := w.db.QueryRowContext
	if w.tx != nil {
		ask = w.tx.QueryRowContext
	}
	if err := ask(ctx, w.dialect.Bind(query+" ORDER BY "+as.key+" LIMIT 1"), args...).Scan(&value); err != nil {
		return nil, fmt.Errorf("fsck: read %s of %s: %w", column, w.table.Table, err)
	}
	if text, ok := value.([]byte); ok && w.kinds[column] != dialect.Bytes {
		value = string(text)
	}
	return value, nil
}

// create inserts a lost+found at the top of its tree, with a key of the same kind as the key like.
func (w *writer) create(ctx context.Context, home *creation, like Key) error {
	r := home.row
	w.inserted = append(w.inserted, home)
	var set []assignment
	err := w.attempt(ctx, &home.edit, func() (bool, error) { return w.clear(ctx, r, set) }, func() error {
		set = []assignment{{column: w.table.Parent, new: r.parent.value()}, {column: w.table.Name, new: r.name}}
		r.wantPath = "/" + r.name
		for _, f := range w.following {
			if want, _ := f.want(w.catalogue, r); f.column != w.table.IDPath {
				set = append(set, assignment{column: f.column, new: want, at: &f})
			}
		}
		for _, column := range slices.Sorted(maps.Keys(w.opts.LostFound)) {
			value, err := w.other(ctx, r, column, w.opts.LostFound[column])
			if err != nil {
				return err
			}
			set = append(set, assignment{column: column, new: value})
		}
		if w.tx != nil {
			if err := w.insert(ctx, r, set, like); err != nil {
				return err
			}
		}
		if w.table.IDPath != "" {
			above := ""
			if r.up != nil {
				above = "/" + r.up.key.String()
			}
			set = append(set, assignment{column: w.table.IDPath, new: w.idForm.Column(above + "/" + r.key.String())})
			if err := w.update(ctx, r, set[len(set)-1:]); err != nil {
				return err
			}
		}
		w.note(r, Orphan, true, set)
		home.made = true
		if w.now != nil {
			w.now[r.id()] = &row{key: r.key, seat: r.seat}
		}
		return nil
	})
	if err == nil || !w.isRefused(err) {
		return err
	}
	r.key = home.fresh
	return skipError{fmt.Errorf("create %q (create it yourself): %w", r.name, err)}
}

// insert inserts a row and sets its key. The new row may get the key of a row that is missing. Rows
// below the missing one must not become its children.
func (w *writer) insert(ctx context.Context, r *row, set []assignment, like Key) error {
	set = slices.Clone(set)
	for column, value := range w.others {
		if _, given := w.opts.LostFound[column]; !given && value != nil {
			value, err := w.other(ctx, r, column, value)
			if err != nil {
				return err
			}
			set = append(set, assignment{column: column, new: value})
		}
	}
	if w.table.Tree != "" {
		set = append(set, assignment{column: w.table.Tree, new: r.tree.value()})
	}
	if w.table.IDPath != "" { // it contains the key, which is not known yet
		set = append(set, assignment{column: w.table.IDPath, new: asidePath(TextKey("tree "+r.tree.String()), w.limit(w.table.IDPath))})
	}
	generated := w.kinds[w.table.Key] == dialect.Number
	if !generated {
		r.key = derivedKey(w.table.Table, r, like, w.limit(w.table.Key))
		set = append(set, assignment{column: w.table.Key, new: r.key})
	}
	err := w.insertRow(ctx, r, set, generated)
	if taken := w.dialect.Duplicate(err).Columns; generated && len(taken) == 1 && strings.HasSuffix(taken[0], "."+w.table.Key) {
		return fmt.Errorf("%w: another row has the key that the database gives next: raise its sequence: %v", errBadKey, err) //nolint:errorlint // the name is not taken
	}
	if err != nil {
		return err
	}
	if r.key.IsZero() {
		return fmt.Errorf("%w: the database does not number the rows of %s", errBadKey, w.table.Table)
	}
	query := fmt.Sprintf("SELECT 1 FROM %s WHERE %s = ? LIMIT 1", w.dialect.Quote(w.table.Table), w.dialect.Quote(w.table.Parent))
	named := false
	err = w.each(ctx, w.tx, query, []any{r.key.arg()}, func(*sql.Rows) error {
		named = true
		return nil
	})
	if err == nil && named {
		err = fmt.Errorf("%w: rows name its key, %v, as their parent", errBadKey, r.key)
	}
	return err
}

// insertRow inserts a row, and reads the key if the database generates it.
func (w *writer) insertRow(ctx context.Context, r *row, set []assignment, generated bool) error {
	var columns []string
	var args []any
	for _, a := range set {
		columns, args = append(columns, w.dialect.Quote(a.column)), append(args, argument(a.new))
	}
	query := fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", w.dialect.Quote(w.table.Table), strings.Join(columns, ", "), strings.Repeat(", ?", len(set)-1))
	if w.dialect.ReturnsKeys {
		return w.each(ctx, w.tx, query+" RETURNING "+w.dialect.Quote(w.table.Key), args, func(rows *sql.Rows) (err error) {
			var value any
			if err = rows.Scan(&value); err == nil {
				r.key, err = w.readKey(w.table.Key, value)
			}
			return err
		})
	}
	result, err := w.tx.ExecContext(ctx, w.dialect.Bind(query), args...)
	if err != nil || !generated {
		return err
	}
	id, err := result.LastInsertId()
	r.key = IntKey(id)
	return err
}
