package doctor

import (
	"context"
	"database/sql"
	"errors"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// LockPlace is where the programs on a database take the locks of a table, as
// gormplugin.VerifyLocks records it.
type LockPlace struct{ Table, Namespace, Store string }

// LockPlaces returns what is recorded, nothing where no program has.
func LockPlaces(ctx context.Context, db *sql.DB, of fsck.Dialect) (places []LockPlace, err error) {
	d, err := dialect.Of(of)
	if err != nil {
		return nil, err
	}
	there, err := treeschema.Look(ctx, db, d, "pathlock_stores")
	if err != nil || !there.Exists {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT guarded, namespace, store FROM pathlock_stores ORDER BY guarded")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p LockPlace
		if err := rows.Scan(&p.Table, &p.Namespace, &p.Store); err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, rows.Err()
}
