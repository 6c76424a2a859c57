package txn

import (
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// shardingPlugin is what [gorm.DB.Use] knows gorm.io/sharding by.
const shardingPlugin = "gorm:sharding"

// RefuseSharding returns an error if db uses gorm.io/sharding. That puts its own connections around
// those of each statement, and changes the table in the statement's text after all callbacks.
func RefuseSharding(db *gorm.DB) error {
	if _, there := db.Plugins[shardingPlugin]; !there {
		return nil
	}
	return fmt.Errorf("%w: gorm.io/sharding sends a statement to another table than the one that was locked and asserted: open a *gorm.DB of its own for the sharded tables",
		fault.ErrUnsupported)
}
