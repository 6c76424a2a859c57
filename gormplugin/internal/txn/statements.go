package txn

import (
	"database/sql"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"gorm.io/gorm"
)

// Ran notes what a statement of GORM's that has run did in its transaction. writes is set where it
// is known to write; other statements write unless their text only reads.
func (o *Owner) Ran(db *gorm.DB, writes bool) {
	h, ok := Unwrapped(db.Statement.ConnPool).(*Handle)
	if !ok || h.owner != o || db.DryRun || db.Error != nil && !writes {
		return
	}
	text := db.Statement.SQL.String()
	if h.before != nil && !h.wrote.Load() && (writes || !rawsql.GrammarOf(o.Dialect.Name).OnlyReads(text)) {
		h.wrote.Store(true)
	}
	if rows, open := db.Statement.Dest.(*sql.Rows); open {
		h.rows.Store(rows)
	}
	if step, ok := rawsql.PlainSavepoint(text); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.after.take(step)
	}
}

// closeRows closes the rows that somebody has left open before the COMMIT, as that does, too. The
// connection is not free for anything else before.
func (t *Transaction) closeRows() {
	if rows := t.rows.Swap(nil); rows != nil { //nolint:rowserrcheck // Whoever reads them sees what they failed with.
		_ = rows.Close() //nolint:sqlclosecheck // They are closed here for whoever forgot it.
	}
}
