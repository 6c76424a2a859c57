package gormplugin

import (
	"gorm.io/gorm"
)

// resolverCallback is what dbresolver's choice of connections is registered as.
const resolverCallback = "gorm:db_resolver"

// sourceKey is the setting by which dbresolver reads from a source, and not from a replica that may
// lag behind.
const sourceKey = "gorm:db_resolver:write"

// source begins a statement that reads. One that runs in no transaction reads where dbresolver
// would write to the table, and not from a replica that may lag behind.
func (t *table) source(db *gorm.DB) *direct {
	d := t.direct(db)
	resolve := db.Callback().Row().Get(resolverCallback)
	if _, running := db.Statement.ConnPool.(gorm.TxCommitter); running || resolve == nil {
		return d
	}
	chosen := db.Session(&gorm.Session{NewDB: true}).Set(sourceKey, struct{}{}).Model(t.fresh())
	if err := chosen.Statement.Parse(chosen.Statement.Model); err != nil {
		_ = d.AddError(err)
		return d
	}
	resolve(chosen)
	d.ConnPool = chosen.Statement.ConnPool
	return d
}
