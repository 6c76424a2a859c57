package write

import (
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
)

// inserting is an INSERT.
type inserting struct {
	*statement
	// seen are the rows that the survey found before the transaction, by id.
	seen map[any]*table.Node
	// keyless are the new rows whose path of ids lacks the key that the database will give them.
	keyless []*arrival
}

// Survey takes the locks on the slots that are known before the transaction. It leaves a parent
// that is not there (yet), or a name that no row can have, to [inserting.Write]: hooks and
// associations may still change both.
func (k *inserting) Survey() (bool, error) {
	t := k.Table
	rows, err := k.arrivals()
	if err != nil {
		return false, err
	}
	wanted := make(plan.Claims)
	if k.isUpsert() {
		fresh, present, err := k.settleUpsert(rows, "")
		if err != nil {
			return false, err
		}
		rows = slices.Concat(fresh, slices.DeleteFunc(present, func(row *arrival) bool { return row.from == nil }))
		for _, row := range rows[len(fresh):] {
			if at, err := t.Above.Location(row.from); err == nil && !t.IsLeaf {
				wanted.Add(at)
			}
		}
	}
	if len(rows) == 0 {
		return false, nil
	}
	if k.seen, err = k.parentsOf(rows, nil, ""); err != nil {
		return false, err
	}
	all := toPlan(rows)
	keys := plan.StatedKeys(all)
	for _, row := range all {
		row.AsRead = k.isUpsert()
		if err := t.Place(row, keys, k.seen); err == nil {
			wanted.Add(row.At)
		}
	}
	return true, k.acquire(wanted, 0)
}

// Write carries out the INSERT: it gives every row its path, asserts that the row's parent is, and
// stays, where the path says, has GORM write the rows, and fills in paths of ids.
func (k *inserting) Write() error {
	stmt := k.DB.Statement
	selects, omits := stmt.Selects, stmt.Omits
	defer func() { stmt.Selects, stmt.Omits = selects, omits }()
	if !stmt.Unscoped {
		if err := k.Apply(stmt.Schema.CreateClauses); err != nil {
			return err
		}
	}
	if err := k.ensureTransaction(); err != nil {
		return err
	}
	if k.isUpsert() {
		return k.upsert()
	}
	return k.insert()
}

// insert inserts the rows of the statement.
func (k *inserting) insert() error {
	rows, err := k.prepare()
	if err != nil {
		return err
	}
	if k.create(); k.DB.Error != nil {
		return k.DB.Error
	}
	if planned, written := int64(len(rows)), k.DB.RowsAffected; planned > 0 && written != planned {
		return k.missed(planned, written)
	}
	if err := k.fillIDs(); err != nil {
		return err
	}
	var stated []any
	for _, row := range rows {
		if row.ID != nil {
			stated = append(stated, row.ID)
		}
	}
	return k.adoptLeaves(stated)
}

// create has GORM write the rows.
func (s *statement) create() {
	s.maps.note(s.DB.Statement, s.write)
	s.written = s.written || s.DB.Error == nil
}

// prepare gives every row its path, and asserts that the row's parent is, and stays, where the path
// says. It returns the rows.
func (k *inserting) prepare() ([]*arrival, error) {
	t, stmt := k.Table, k.DB.Statement
	rows, err := k.arrivals()
	if err != nil {
		return nil, err
	}
	if err := selectPlace(t, stmt, rows); err != nil {
		return nil, err
	}
	if !table.IsWritten(stmt, t.Key) {
		for _, row := range rows {
			if row.ID != nil && t.HasIDs() {
				return nil, t.Unsupported("a row that states a key and leaves it out (by Select or Omit) does not tell the plugin its key, which its path of ids needs")
			}
			row.ID = nil // the database makes its own
		}
	}
	if err := k.settle(rows); err != nil {
		return nil, err
	}
	if err := k.guardTop(plan.TopArrivalsOf(toPlan(rows))); err != nil {
		return nil, err
	}
	taken := make(map[pathlock.Location]bool, len(rows))
	return rows, k.settleEach(rows, func(row *arrival) error {
		if taken[row.At] && !t.Nameless { // two rows with one key, which the database refuses
			return &fault.NameTakenError{Table: t.TableName, Tree: row.At.Tree, Path: row.At.Path}
		}
		taken[row.At] = true
		k.slots = append(k.slots, nameSlot{row.At, row.Node})
		if err := errors.Join(row.Settle(t.Name), row.Settle(t.Parent), row.settleParent()); err != nil {
			return err
		}
		if row.ID == nil && t.HasIDs() {
			if row.Pairs != nil {
				return t.Unsupported("GORM does not tell which key a row in a map got, and its path of ids needs the key: use a struct, or state the key")
			}
			k.keyless = append(k.keyless, row)
		}
		return errors.Join(row.settleMarks(), store(t, row, k.Fence))
	})
}

// settle finds the rows' places and locks them.
func (k *inserting) settle(rows []*arrival) error {
	for _, row := range rows {
		row.AsRead = k.absent
	}
	var parents map[any]*table.Node
	var anchors []*table.Node
	return k.planAndAssert(func(locking bool) (_ plan.Demand, err error) {
		var claims plan.Claims
		known, lock := k.seen, ""
		if locking {
			known, lock = nil, k.Dialect.Share
		}
		if parents, err = k.parentsOf(rows, known, lock); err == nil {
			claims, anchors, err = k.Table.Insert(toPlan(rows), parents)
		}
		return claims, err
	}, func() error {
		_, err := k.lockChains(anchors, parents)
		return err
	})
}

// fillIDs completes the paths of ids of new rows whose keys the database has made.
func (k *inserting) fillIDs() error {
	if err := k.recheckTop(); err != nil {
		return err
	}
	if len(k.keyless) == 0 {
		return nil
	}
	err := k.writeIDs(k.keyless)
	if err != nil {
		err = fmt.Errorf("gormplugin: writing the paths of ids: %w", err)
		if k.Dialect.Classify(err).IsOfAnother() {
			err = fault.Retryable(err)
		}
	}
	return err
}

// writeIDs gives new rows their paths of ids, in one statement.
func (s *statement) writeIDs(rows []*arrival) error {
	t := s.Table
	f, form := t.IDs, t.IDsForm
	if t.ByIDs {
		f, form = t.Path, t.PathForm
	}
	for chunk := range slices.Chunk(rows, table.MaxPlaceholders/3) {
		ids, paths := make([]any, len(chunk)), make([]any, len(chunk))
		for i, row := range chunk {
			id, err := row.Get(t.Key)
			if err != nil {
				return err
			}
			if id == nil {
				return t.Unsupported("neither the row nor the database states the key of a new row, and its path of ids needs the key")
			}
			if err := t.CheckID(id); err != nil {
				return err
			}
			path := row.Path
			if !t.ByIDs {
				path = row.IDs
			}
			ids[i], paths[i] = id, form.Column(path+plan.IDText(id))
			if err := row.Set(f, paths[i]); err != nil {
				return err
			}
		}
		if form.OfParent {
			continue // it was written already
		}
		// Only new rows have no path. Where the database gives only one of several keys back, GORM
		// counts on from that, and may be wrong.
		pathless := clause.Expr{SQL: "? AND COALESCE(?, '') = ''", Vars: []any{t.KeyIn(table.Column(t.Key), ids), table.Column(f)}}
		if written, err := t.UpdateDirect(s.DB, f, eachOf(t, f, ids, paths), pathless); err != nil {
			return err
		} else if written != int64(len(ids)) {
			return t.Unsupported("the database has not given the new rows the keys %v, which GORM computed: state the keys of all rows or of none, and give %q the tag `gorm:\"autoIncrementIncrement:…\"` with the server's auto_increment_increment, or create the rows one by one", ids, t.Key.DBName)
		}
	}
	return nil
}

// selectPlace makes a statement that creates rows write the columns of their place, and marks that
// are not NULL in live rows, whatever it selects and omits. It refuses a statement that leaves out
// a name or a parent, or a path instead, which the rows state: what it means is unclear.
func selectPlace(t *table.Table, stmt *gorm.Statement, rows []*arrival) error {
	for _, f := range slices.Concat(t.PlaceColumns(), t.Deletion) {
		if table.IsWritten(stmt, f) || slices.Contains(t.Deletion, f) && t.LiveMark(f) == nil {
			continue
		}
		if f == t.Name || f == t.Parent || f == t.Path {
			for _, row := range rows {
				if value, err := row.Get(f); err != nil || value != nil && (f != t.Path || row.ByPath && row.Above().Path != "") {
					return t.Unsupported("a new row's %q cannot be left out by Select or Omit", f.DBName)
				}
			}
		}
		stmt.Omits = slices.DeleteFunc(slices.Clone(stmt.Omits), func(name string) bool { return t.ColumnNamed(name) == f })
		if len(stmt.Selects) > 0 {
			stmt.Selects = append(slices.Clone(stmt.Selects), f.DBName)
		}
		if !table.IsWritten(stmt, f) {
			return t.Unsupported("a new row's %q cannot be left out by Select or Omit", f.DBName)
		}
	}
	return nil
}
