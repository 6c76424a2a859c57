package treeschema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Prober is what a probe needs of a connection: a *sql.DB or a *sql.Conn.
type Prober interface {
	Conn
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}

// RunProbing does what [Run] does, and tries triggers out whose text does not tell what they do to
// the tree, each table's in a transaction that it rolls back. It writes the rows that an insert, a
// rename, a move, and a deletion write, below a row that is there, and looks whether the database
// has what was written, and has left the other rows alone.
//
// A rollback undoes neither what a trigger does elsewhere, such as in a table without transactions,
// nor the numbers that a sequence has given away.
func RunProbing(ctx context.Context, conn Prober, dialectName string, tables []Table) ([]Finding, error) {
	return checkAll(ctx, conn, dialectName, tables, checker{prober: conn})
}

// trial writes rows of its own to a table and looks what becomes of them.
type trial struct {
	*checker
	tx *sql.Tx
	// above is the row below which it writes, nil in a table without live rows.
	above place
	// rows are its own.
	rows []place
	// others are the tables of the other trees, as far as they have been read.
	others map[string]*physical
	// partly is set where not all other rows are looked at.
	partly bool
	// harm is the first thing that is not what was written.
	harm string
}

// maxCompared is how many rows of a table a probe compares at most.
const maxCompared = 100_000

// probe tries the table's triggers out. harm says what they do to the tree, "" for nothing; partly
// is set where not all other rows were looked at. The error says why it could not be done.
func (c *checker) probe(ctx context.Context) (harm string, partly bool, err error) {
	if err := c.undoes(ctx); err != nil {
		return "", false, err
	}
	var options *sql.TxOptions
	if c.name() != "sqlite" {
		// One snapshot for all comparisons: what others commit meanwhile is none of the triggers'
		// doing.
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead}
	}
	tx, err := c.prober.BeginTx(ctx, options)
	if err != nil {
		return "", false, err
	}
	defer func() {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			err = errors.Join(err, undo)
		}
	}()
	t := &trial{checker: c, tx: tx, others: make(map[string]*physical)}
	if err := t.run(ctx); err != nil {
		return "", false, err
	}
	return t.harm, t.partly, nil
}

// undoes reports, by an error, whether what is written to the table cannot be rolled back.
func (c *checker) undoes(ctx context.Context) error {
	if c.otherEngine() {
		return errors.New("nothing can be rolled back with the storage engine " + c.physical.engine)
	}
	if c.name() != "sqlite" {
		return nil
	}
	settings, err := askFile(ctx, c.conn, "sqlite_settings.sql")
	if err == nil && settings[0]["journal_mode"] == "off" {
		return errors.New("nothing can be rolled back with journal_mode = off")
	}
	return err
}

// run takes the steps of a trial until one does harm.
func (t *trial) run(ctx context.Context) error {
	if t.name() == "postgres" {
		// Deferred triggers run at a commit, which there is none of.
		if _, err := t.tx.ExecContext(ctx, "SET CONSTRAINTS ALL IMMEDIATE"); err != nil {
			return err
		}
	}
	if err := t.begin(ctx); err != nil {
		return err
	}
	before, err := t.fingerprints(ctx)
	if err != nil {
		return err
	}
	for _, step := range t.steps() {
		if err := step.do(ctx, step.what); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		if t.harm != "" {
			return nil
		}
		after, err := t.fingerprints(ctx)
		if err != nil {
			return err
		}
		for name, of := range before {
			if after[name] != of {
				t.harm = fmt.Sprintf("after %s, other rows of %s have another place than before", step.what, name)
				return nil
			}
		}
	}
	return nil
}

// step is a statement as the plugin sends it.
type step struct {
	what string
	do   func(ctx context.Context, what string) error
}

// steps are those of a trial. A table of leaves has no rows below others.
func (t *trial) steps() []step {
	top, below := 0, 1
	steps := []step{{"the insert of a row", func(ctx context.Context, what string) error { return t.insert(ctx, what, t.above) }}}
	if len(t.table.Paths) == 0 {
		return append(steps,
			step{"the rename of a row", func(ctx context.Context, what string) error { return t.rename(ctx, what, top) }},
			step{"the deletion of a row", func(ctx context.Context, what string) error { return t.remove(ctx, what, top) }},
		)
	}
	return append(steps,
		step{"the insert of a row below another", func(ctx context.Context, what string) error { return t.insert(ctx, what, t.rows[top]) }},
		step{"the rename of a row", func(ctx context.Context, what string) error { return t.rename(ctx, what, top) }},
		step{"the rewrite of a path", func(ctx context.Context, what string) error { return t.rewrite(ctx, what, below, top) }},
		step{"the move of a row", func(ctx context.Context, what string) error { return t.move(ctx, what, below) }},
		step{"the deletion of a row", func(ctx context.Context, what string) error { return t.remove(ctx, what, below) }},
		step{"the deletion of the row above", func(ctx context.Context, what string) error { return t.remove(ctx, what, top) }},
	)
}

// begin looks for a row to write below, and says which others are compared.
func (t *trial) begin(ctx context.Context) error {
	order := t.quote(t.table.Key[0])
	if len(t.table.Paths) > 0 {
		path := t.quote(t.table.Paths[0].Column)
		if t.name() == "postgres" {
			path = t.bytes(path) // as the index has it
		}
		order = t.quote(t.table.Tree) + ", " + path
	}
	where := ""
	if live := t.table.live(t.quote); live != "" {
		where = " WHERE " + live
	}
	found, err := t.look(ctx, where+" ORDER BY "+order+" LIMIT 1")
	if err != nil {
		return err
	}
	if len(found) > 0 {
		t.above = found[0]
	}
	many, err := ask(ctx, t.tx, fmt.Sprintf("SELECT COUNT(*) AS many FROM (SELECT 1 AS one FROM %s LIMIT %d) bounded", t.quote(t.table.Table), maxCompared+1))
	if err != nil {
		return err
	}
	t.partly = many[0]["many"] == fmt.Sprint(maxCompared+1)
	return nil
}

// writes runs a statement that writes one row.
func (t *trial) writes(ctx context.Context, what string, s *sentence) error {
	result, err := t.tx.ExecContext(ctx, s.text.String(), s.args...)
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err == nil && rows != 1 {
		t.harm = fmt.Sprintf("%s has written %d rows, and not one", what, rows)
	}
	return nil
}

// insert writes a row below another one, at the top if that is nil. A leaf gets the same parent as
// the one that is there.
func (t *trial) insert(ctx context.Context, what string, parent place) error {
	row, err := t.newPlace(ctx, parent)
	if err != nil {
		return err
	}
	s := t.sentence()
	if err := t.insertion(ctx, s, row); err != nil {
		return err
	}
	t.rows = append(t.rows, row)
	if err := t.writes(ctx, what, s); err != nil {
		return err
	}
	return t.compare(ctx, what)
}

// sets writes some columns of a row.
func (t *trial) sets(ctx context.Context, what string, number int, columns ...string) error {
	s := t.sentence()
	s.add("UPDATE %s SET ", t.quote(t.table.Table))
	for i, name := range columns {
		s.add("%s%s = %s", strings.Repeat(", ", min(i, 1)), t.quote(name), s.value(t.physical.columns[name], t.rows[number][name]))
	}
	s.add(" WHERE %s", s.is(t.rows[number]))
	if err := t.writes(ctx, what, s); err != nil {
		return err
	}
	return t.compare(ctx, what)
}

// rename gives a row another name.
func (t *trial) rename(ctx context.Context, what string, number int) error {
	row, columns := t.rows[number], []string{t.table.Name.Column}
	name := newName(t.physical.columns[columns[0]])
	for _, path := range t.table.Paths {
		if !path.OfIDs {
			row[path.Column] = strings.TrimSuffix(row[path.Column], row[columns[0]]) + name
			columns = append(columns, path.Column)
		}
	}
	row[columns[0]] = name
	return t.sets(ctx, what, number, columns...)
}

// rewrite gives a row the path that it has below another one.
func (t *trial) rewrite(ctx context.Context, what string, number, above int) error {
	var columns []string
	for _, path := range t.table.Paths {
		if !path.OfIDs {
			t.rows[number][path.Column] = t.rows[above][path.Column] + "/" + t.rows[number][t.table.Name.Column]
			columns = append(columns, path.Column)
		}
	}
	if columns == nil {
		return nil // a path of ids stays
	}
	return t.sets(ctx, what, number, columns...)
}

// move puts a row where the first one is.
func (t *trial) move(ctx context.Context, what string, number int) error {
	row, columns := t.rows[number], []string{t.table.Parent}
	row[t.table.Parent] = t.rows[0][t.table.Parent]
	for _, path := range t.table.Paths {
		base, last := strings.LastIndexByte(t.rows[0][path.Column], '/'), strings.LastIndexByte(row[path.Column], '/')
		row[path.Column] = t.rows[0][path.Column][:base] + row[path.Column][last:]
		columns = append(columns, path.Column)
	}
	return t.sets(ctx, what, number, columns...)
}

// remove deletes a row, softly first where the model says so.
func (t *trial) remove(ctx context.Context, what string, number int) error {
	row, name := t.rows[number], t.quote(t.table.Table)
	if len(t.table.Marks) > 0 {
		s := t.sentence()
		var set []string
		for _, mark := range t.table.Marks {
			set = append(set, t.quote(mark.Column)+" = "+t.dead(mark, 1))
			delete(row, mark.Column) // whatever the time is
		}
		s.add("UPDATE %s SET %s WHERE %s", name, strings.Join(set, ", "), s.is(row))
		if err := t.writes(ctx, what, s); err != nil || t.harm != "" {
			return err
		}
		if err := t.compare(ctx, what); err != nil || t.harm != "" {
			return err
		}
	}
	s := t.sentence()
	s.add("DELETE FROM %s WHERE %s", name, s.is(row))
	if err := t.writes(ctx, what, s); err != nil {
		return err
	}
	t.rows = slices.Delete(t.rows, number, number+1)
	return t.compare(ctx, what)
}
