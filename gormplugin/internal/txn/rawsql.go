package txn

import (
	"regexp"

	"gorm.io/gorm"
)

// WatchEnd refuses raw SQL that would end a transaction which the plugin relies on. writes is set
// where the SQL is a write to a guarded table that the caller has allowed.
func (o *Owner) WatchEnd(db *gorm.DB, sql string, writes bool) error {
	h, ok := Unwrapped(db.Statement.ConnPool).(*Handle)
	if !ok || h.owner != o {
		return nil
	}
	if writes {
		if err := h.rawEnd.relyOn(); err != nil {
			return err
		}
	}
	if statement, ends := o.Dialect.Grammar.EndsTransaction(sql); ends {
		return h.rawEnd.end(statement)
	}
	return nil
}

// savepointStatement is a statement that sets a savepoint, goes back to one, or releases one.
var savepointStatement = regexp.MustCompile(`(?i)^\s*(SAVEPOINT|ROLLBACK\s+(WORK\s+)?TO|RELEASE\s+SAVEPOINT)\s`)

// cachedKey is the setting that remembers which connections a savepoint's statement was given.
const cachedKey = "pathlock:prepared"

// BareSavepoint sends a savepoint's statement past all caches of prepared statements: MySQL cannot
// prepare it (error 1295). GORM steps over one cache, and lays two around a transaction where both
// the DB and a session of it have PrepareStmt.
func BareSavepoint(db *gorm.DB) {
	prepared, ok := db.Statement.ConnPool.(*gorm.PreparedStmtTX)
	if !ok || !savepointStatement.MatchString(db.Statement.SQL.String()) {
		return
	}
	if h, ok := Unwrapped(prepared).(*Handle); ok {
		db.InstanceSet(cachedKey, prepared)
		db.Statement.ConnPool = h
	}
}

// CachedAgain undoes BareSavepoint, as the statement may be one of several of its session.
func CachedAgain(db *gorm.DB) {
	if prepared, ok := db.InstanceGet(cachedKey); ok && prepared != nil {
		db.InstanceSet(cachedKey, nil)
		db.Statement.ConnPool = prepared.(*gorm.PreparedStmtTX)
	}
}
