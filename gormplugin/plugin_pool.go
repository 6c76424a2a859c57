package gormplugin

import (
	"database/sql"

	"gorm.io/gorm"
)

// Pool returns the connections of a database that the DB itself was not opened with, such as
// another source of dbresolver's, in a form in which transactions on them are the plugin's: as the
// Conn of the source's dialector.
func (p *Plugin) Pool(db *sql.DB) gorm.ConnPool { return p.owner.Pool(db) }
