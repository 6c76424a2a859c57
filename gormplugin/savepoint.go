package gormplugin

import (
	"regexp"

	"gorm.io/gorm"
)

// savepointStatement is a statement that sets a savepoint, goes back to one, or releases one.
var savepointStatement = regexp.MustCompile(`(?i)^\s*(SAVEPOINT|ROLLBACK\s+(WORK\s+)?TO|RELEASE\s+SAVEPOINT)\s`)

// cachedKey is the setting that remembers which connections a savepoint's statement was given.
const cachedKey = "pathlock:prepared"

// bareSavepoint sends a savepoint's statement past all caches of prepared statements: MySQL cannot
// prepare it (error 1295). GORM steps over one cache, and lays two around a transaction where both
// the DB and a session of it have PrepareStmt.
func bareSavepoint(db *gorm.DB) {
	prepared, ok := db.Statement.ConnPool.(*gorm.PreparedStmtTX)
	if !ok || !savepointStatement.MatchString(db.Statement.SQL.String()) {
		return
	}
	if h, ok := unwrapped(prepared).(*handle); ok {
		db.InstanceSet(cachedKey, prepared)
		db.Statement.ConnPool = h
	}
}

// cachedAgain undoes bareSavepoint, as the statement may be one of several of its session.
func cachedAgain(db *gorm.DB) {
	if prepared, ok := db.InstanceGet(cachedKey); ok && prepared != nil {
		db.InstanceSet(cachedKey, nil)
		db.Statement.ConnPool = prepared.(*gorm.PreparedStmtTX)
	}
}
