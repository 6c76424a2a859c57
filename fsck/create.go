package fsck

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// create inserts a lost+found at the top of its tree, with a key of the same kind as the key like.
// All columns that [Table] does not describe get their defaults, or the zero values of their types.
func (w *writer) create(ctx context.Context, home *creation, like Key) error {
	if home.impossible != nil {
		return skipError{home.impossible}
	}
	r := home.row
	w.inserted = append(w.inserted, home)
	var set []assignment
	err := w.attempt(ctx, &home.edit, func() (bool, error) { return w.clear(ctx, r, set) }, func() error {
		set = []assignment{{column: w.table.Parent, new: r.parent.value()}, {column: w.table.Name, new: r.name}}
		if w.table.Path != "" {
			set = append(set, assignment{column: w.table.Path, new: w.pathForm.Column("/" + r.name)})
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
	r.key, home.impossible = home.fresh, fmt.Errorf("create %q (create it yourself): %w", r.name, err)
	return skipError{home.impossible}
}

// insert inserts a row and sets its key. Rows below a missing one must not become children of the
// new row, whose key may be that of the missing one again.
func (w *writer) insert(ctx context.Context, r *row, set []assignment, like Key) error {
	set = slices.Concat(set, w.required)
	if w.table.Tree != "" {
		set = append(set, assignment{column: w.table.Tree, new: r.tree.value()})
	}
	if w.table.IDPath != "" { // it contains the key, which is not known yet
		set = append(set, assignment{column: w.table.IDPath, new: asidePath(TextKey("tree "+r.tree.String()), w.limits[w.table.IDPath])})
	}
	generated := w.kinds[w.table.Key] == dialect.Number
	if !generated {
		r.key = derivedKey(w.table.Table, r.tree, like, w.limits[w.table.Key])
		set = append(set, assignment{column: w.table.Key, new: r.key})
	}
	if err := w.insertRow(ctx, r, set, generated); err != nil {
		return err
	}
	query := fmt.Sprintf("SELECT 1 FROM %s WHERE %s = ? LIMIT 1", w.dialect.Quote(w.table.Table), w.dialect.Quote(w.table.Parent))
	named := false
	err := w.each(ctx, query, []any{r.key.arg()}, func(*sql.Rows) error {
		named = true
		return nil
	})
	if err == nil && named {
		err = fmt.Errorf("%w: rows name its key, %v, as their parent", errNamed, r.key)
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
	if w.dialect == dialect.PostgreSQL {
		return w.each(ctx, query+" RETURNING "+w.dialect.Quote(w.table.Key), args, func(rows *sql.Rows) (err error) {
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
