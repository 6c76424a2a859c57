package doctor

import (
	"context"
	"database/sql"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
)

// Same compares a lock store that answers with the one that the programs on a database have.
func Same(ctx context.Context, url, password string, db *sql.DB, dialect fsck.Dialect, opts Options) (Report, error) {
	e := newExam(opts)
	e.same(ctx, url, password, db, dialect)
	return Report{e.findings}, ctx.Err()
}

func (e *exam) same(ctx context.Context, url, password string, db *sql.DB, dialect fsck.Dialect) {
	if _, missing := MissingFile(url); missing {
		return // which Locks has found, as everything below that says nothing
	}
	stores, end, err := e.openTwo(ctx, url, password)
	if err != nil {
		return
	}
	defer end()
	const check = "same store"
	about := stores[0].String()
	var id string
	var places []LockPlace
	err = e.ask(ctx, func(ctx context.Context) (err error) {
		if places, err = LockPlaces(ctx, db, dialect); err == nil && len(places) > 0 {
			id, err = pathlock.New(stores[0].Store).StoreID(ctx)
		}
		return err
	})
	switch {
	case err != nil:
		e.unknown(about, check, err, "")
	case len(places) == 0:
		e.found(Advice, about, check, "the programs have not recorded their lock store in the database", "one that uses another goes unnoticed", "have them call gormplugin.VerifyLocks when they start")
	}
	for _, p := range places {
		if id == "" {
			break // of a private store, which Locks has found
		}
		if p.Store == id {
			e.fine(about, check, "the programs take the locks of %s here, in the namespace %s", p.Table, p.Namespace)
			continue
		}
		e.found(Problem, about, check, "it is the lock store "+id+", and the programs take the locks of "+p.Table+" in "+p.Store, "a program with this store does not see the locks of the others",
			"give all programs one lock store; if it is this one, new or emptied, DELETE FROM pathlock_stores WHERE guarded = '"+p.Table+"'")
	}
}
