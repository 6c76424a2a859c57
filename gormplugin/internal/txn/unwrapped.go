package txn

import (
	"gorm.io/gorm"
)

// Unwrapped returns the connections below GORM's caches of prepared
// statements; a session can lay one cache around another.
func Unwrapped(connections gorm.ConnPool) gorm.ConnPool {
	for {
		switch c := connections.(type) {
		case *gorm.PreparedStmtTX:
			connections = c.Tx
		case *gorm.PreparedStmtDB:
			connections = c.ConnPool
		default:
			return connections
		}
	}
}
