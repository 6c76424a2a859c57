package treeschema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Prober is what probing needs of a connection: a *sql.DB or a *sql.Conn.
type Prober interface {
	Conn
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}

// RunProbing does what [Run] does, and also tries out the triggers whose text does not tell what
// they do to the tree. For each table it begins a transaction, and writes below an existing row
// what an insert, a rename, a move and a deletion write. It then looks whether the database holds
// what was written, and has left other rows alone, and rolls back.
//
// A rollback does not undo everything: a trigger may write to a table without transactions, and a
// sequence does not take numbers back.
func RunProbing(ctx context.Context, conn Prober, dialectName string, tables []Table) ([]Finding, error) {
	return checkAll(ctx, conn, dialectName, tables, checker{prober: conn})
}

// trial writes its own rows to a table and looks what becomes of them.
type trial struct {
	*checker
	tx *sql.Tx
	// above is the row below which it writes, nil if the table has no live rows.
	above place
	// rows are its own rows.
	rows []place
	// others are the other tables, as far as they have been read.
	others map[string]*physical
	// partly is set if it does not compare all other rows.
	partly bool
	// doing names the current step.
	doing string
	// harm is the first thing found that differs from what was written.
	harm string
}

// maxCompared is the most rows of a table that a probe compares.
const maxCompared = 100_000

// probe tries the table's triggers out. harm says what they do to the tree, "" for nothing. partly
// is set if it did not compare all other rows. The error says why it could not probe.
func (c *checker) probe(ctx context.Context) (harm string, partly bool, err error) {
	if err := c.undoes(ctx); err != nil {
		return "", false, err
	}
	var options *sql.TxOptions
	if c.name() != "sqlite" {
		// All comparisons need one snapshot, without what other sessions commit meanwhile.
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

// undoes returns an error if writes to the table cannot be rolled back.
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
		// Deferred triggers would run at the commit, which never comes.
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
		t.doing = step.what
		if err := step.do(ctx); err != nil {
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

// step is a write like one of the plugin's.
type step struct {
	what string
	do   func(context.Context) error
}

// steps are the steps of a trial. In a table of leaves, no row is below another.
func (t *trial) steps() []step {
	top, below := 0, 1
	steps := []step{{"the insert of a row", func(ctx context.Context) error { return t.insert(ctx, t.above) }}}
	if len(t.table.Paths) == 0 {
		return append(steps,
			step{"the rename of a row", func(ctx context.Context) error { return t.rename(ctx, top) }},
			step{"the deletion of a row", func(ctx context.Context) error { return t.remove(ctx, top) }},
		)
	}
	return append(steps,
		step{"the insert of a row below another", func(ctx context.Context) error { return t.insert(ctx, t.rows[top]) }},
		step{"the rename of a row", func(ctx context.Context) error { return t.rename(ctx, top) }},
		step{"the rewrite of a path", func(ctx context.Context) error { return t.rewrite(ctx, below, top) }},
		step{"the move of a row", func(ctx context.Context) error { return t.move(ctx, below) }},
		step{"the deletion of a row", func(ctx context.Context) error { return t.remove(ctx, below) }},
		step{"the deletion of the row above", func(ctx context.Context) error { return t.remove(ctx, top) }},
	)
}

// begin looks for a row to write below, and decides which other rows to compare.
func (t *trial) begin(ctx context.Context) error {
	order := t.quote(t.table.Key[0])
	if len(t.table.Paths) > 0 {
		path := t.quote(t.table.Paths[0].Column)
		if t.name() == "postgres" {
			path = t.bytes(path) // as the index has it
		}
		order = t.quote(t.table.Tree) + ", " + path
	}
	found, err := t.look(ctx, t.table.live(" WHERE ", t.quote)+" ORDER BY "+order+" LIMIT 1")
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
func (t *trial) writes(ctx context.Context, s *sentence) error {
	result, err := t.tx.ExecContext(ctx, s.text.String(), s.args...)
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err == nil && rows != 1 {
		t.harm = fmt.Sprintf("%s has written %d rows, and not one", t.doing, rows)
	}
	return nil
}

// insert writes a row below parent, or at the top if that is nil. A leaf gets the parent of the
// existing leaf.
func (t *trial) insert(ctx context.Context, parent place) error {
	row, err := t.newPlace(ctx, parent)
	if err != nil {
		return err
	}
	s := t.sentence()
	if err := t.insertion(ctx, s, row); err != nil {
		return err
	}
	t.rows = append(t.rows, row)
	if err := t.writes(ctx, s); err != nil {
		return err
	}
	return t.compare(ctx)
}

// sets writes some columns of a row.
func (t *trial) sets(ctx context.Context, number int, columns ...string) error {
	s := t.sentence()
	s.add("UPDATE %s SET ", t.quote(t.table.Table))
	for i, name := range columns {
		s.add("%s%s = %s", strings.Repeat(", ", min(i, 1)), t.quote(name), s.value(t.physical.columns[name], t.rows[number][name]))
	}
	s.add(" WHERE %s", s.is(t.rows[number]))
	if err := t.writes(ctx, s); err != nil {
		return err
	}
	return t.compare(ctx)
}

// rename gives a row another name.
func (t *trial) rename(ctx context.Context, number int) error {
	row, columns := t.rows[number], []string{t.table.Name.Column}
	name := newName(t.physical.columns[columns[0]])
	for _, path := range t.table.Paths {
		if !path.OfIDs {
			row[path.Column] = strings.TrimSuffix(row[path.Column], row[columns[0]]) + name
			columns = append(columns, path.Column)
		}
	}
	row[columns[0]] = name
	return t.sets(ctx, number, columns...)
}

// rewrite gives a row the path that follows from the row above it.
func (t *trial) rewrite(ctx context.Context, number, above int) error {
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
	return t.sets(ctx, number, columns...)
}

// move gives a row the parent of the first one.
func (t *trial) move(ctx context.Context, number int) error {
	row, columns := t.rows[number], []string{t.table.Parent}
	row[t.table.Parent] = t.rows[0][t.table.Parent]
	for _, path := range t.table.Paths {
		base, last := strings.LastIndexByte(t.rows[0][path.Column], '/'), strings.LastIndexByte(row[path.Column], '/')
		row[path.Column] = t.rows[0][path.Column][:base] + row[path.Column][last:]
		columns = append(columns, path.Column)
	}
	return t.sets(ctx, number, columns...)
}

// remove deletes a row, softly at first if the model deletes softly.
func (t *trial) remove(ctx context.Context, number int) error {
	row, name := t.rows[number], t.quote(t.table.Table)
	if len(t.table.Marks) > 0 {
		s := t.sentence()
		var set []string
		for _, mark := range t.table.Marks {
			set = append(set, t.quote(mark.Column)+" = "+t.dead(mark, 1))
			delete(row, mark.Column) // the time may be any
		}
		s.add("UPDATE %s SET %s WHERE %s", name, strings.Join(set, ", "), s.is(row))
		if err := t.writes(ctx, s); err != nil || t.harm != "" {
			return err
		}
		if err := t.compare(ctx); err != nil || t.harm != "" {
			return err
		}
	}
	s := t.sentence()
	s.add("DELETE FROM %s WHERE %s", name, s.is(row))
	if err := t.writes(ctx, s); err != nil {
		return err
	}
	t.rows = slices.Delete(t.rows, number, number+1)
	return t.compare(ctx)
}
