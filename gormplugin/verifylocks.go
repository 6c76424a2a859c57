package gormplugin

import (
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// ErrOtherLocks means that this program takes the locks of a table elsewhere than others do: in
// another lock store, or in another namespace. Neither sees the locks of the other.
var ErrOtherLocks = errors.New("gormplugin: other programs use another lock store or namespace")

// lockPlace is where the locks of a table are taken, as the database has it.
type lockPlace struct {
	Guarded   string `gorm:"primaryKey;size:191"` // the table
	Namespace string `gorm:"size:255;not null"`
	Store     string `gorm:"size:64;not null"`
}

// TableName implements GORM's Tabler.
func (lockPlace) TableName() string { return "pathlock_stores" }

// VerifyLocks checks that this program takes its locks where the others on the database do: the
// first program records the id of its lock store ([pathlock.Locker.StoreID]) and the namespace of
// each tree in the table pathlock_stores, which it makes, and later ones compare. Call it when the
// program starts, after [AutoMigrate] or [Verify].
//
// If they differ, the error matches [ErrOtherLocks]. It names both and, if others can take their
// locks there, the statement that accepts the new place. A store that was set up anew, or has lost
// its data, is another one, so the error is for the log. Locks inside one process, of memstore or
// offstore, differ from those of a shared store, and are not recorded.
//
// The error matches [pathlock.ErrUnavailable] if the lock store does not answer. Any other says
// that the table could not be made, read or written.
func VerifyLocks(db *gorm.DB) error {
	p, err := pluginOf(db)
	if err != nil {
		return err
	}
	store, err := p.Locker.StoreID(db.Statement.Context)
	if err != nil {
		return fmt.Errorf("gormplugin: VerifyLocks: %w", err)
	}
	var errs []error
	for _, t := range p.All {
		if t.IsLeaf {
			continue // its locks are those of the table above
		}
		here := lockPlace{t.TableName, strings.TrimSuffix(t.Namespace+"/"+t.SingleTree(), "/"), store}
		there, err := p.recorded(db, here)
		switch {
		case err != nil:
			return fmt.Errorf("gormplugin: VerifyLocks: %w", err)
		case here.Store == "" && there.Store != "":
			errs = append(errs, fmt.Errorf("%w: for %s they use %s, and this one uses %s", ErrOtherLocks, t.TableName, there, here))
		case here != there:
			errs = append(errs, fmt.Errorf("%w: for %s they use %s, and this one uses %s; if all should use the latter, DELETE FROM %s WHERE guarded = '%s'",
				ErrOtherLocks, t.TableName, there, here, there.TableName(), t.TableName))
		}
	}
	return errors.Join(errs...)
}

// String says where that is.
func (l lockPlace) String() string {
	if l.Store == "" {
		return "its own memory"
	}
	return fmt.Sprintf("the lock store %s, namespace %s", l.Store, l.Namespace)
}

// recorded returns the place that the database has for the table, or the given one if it has none.
func (p *inUse) recorded(db *gorm.DB, place lockPlace) (lockPlace, error) {
	if !db.Migrator().HasTable(&place) {
		if place.Store == "" {
			return place, nil
		}
		if err := p.alone(db, func(tx *gorm.DB) error { return tx.AutoMigrate(&place) }); err != nil {
			return place, err
		}
	}
	if place.Store != "" {
		if err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&place).Error; err != nil {
			return place, err
		}
	}
	there := place
	return there, db.Limit(1).Find(&there, "guarded = ?", place.Guarded).Error
}
