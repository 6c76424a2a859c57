package write

import (
	"runtime"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// refuseReplace refuses Association(…).Replace of rows of a guarded table outside of a transaction.
// GORM saves the new rows by one statement, and lets the old ones go by another one, which can be
// refused, as where a leaf needs a parent: the new rows would stay. Only the stack tells it from
// Append, which is one statement.
func (e *Engine) refuseReplace(stmt *gorm.Statement) error {
	if stmt.Schema == nil || len(stmt.Selects) == 0 {
		return nil
	}
	r := stmt.Schema.Relationships.Relations[stmt.Selects[0]]
	if r == nil || r.Type != schema.HasOne && r.Type != schema.HasMany || e.Tables[r.FieldSchema.Table] == nil {
		return nil
	}
	if _, running := stmt.ConnPool.(gorm.TxCommitter); running {
		return nil
	}
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "gorm.(*Association).Replace") {
			return e.Tables[r.FieldSchema.Table].Unsupported("GORM replaces an association by two statements, of which the second may be refused: run Association(%q).Replace in db.Transaction", r.Name)
		}
		if !more {
			return nil
		}
	}
}
