package txn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// Another plugin may have put its own connections around the plugin's. They pass statements on, but
// do not say what they are around. So a statement asks: the plugin's transaction knows its text,
// and answers it without the database. To any other transaction it is a harmless read.
const question = "/* pathlock: which transaction is this? */ SELECT 1"

// answerKey is the context key of the *Transaction that the answer goes to.
type answerKey struct{}

// errAnswered is the error of the attempt to prepare the question.
var errAnswered = errors.New("gormplugin: the question was answered")

// answer reports whether a statement is the question, and answers it.
func (t *Transaction) answer(ctx context.Context, query string) bool {
	if !strings.HasPrefix(query, question) {
		return false
	}
	if to, ok := ctx.Value(answerKey{}).(**Transaction); ok {
		*to = t
		return true
	}
	return false
}

// answered is the result of the question.
type answered struct{}

func (answered) LastInsertId() (int64, error) { return 0, nil }
func (answered) RowsAffected() (int64, error) { return 0, nil }

// Find returns the transaction of the plugin's in which statements of db run, also where another
// plugin has put its own connections around it. The error, where there is none, matches
// [fault.ErrUnmanagedTransaction].
func (o *Owner) Find(db *gorm.DB) (*Transaction, error) {
	var found *Transaction
	switch c := Unwrapped(db.Statement.ConnPool).(type) {
	case *Handle:
		found = c.Transaction
	case *pool, *sql.DB:
		return nil, fmt.Errorf("%w: there is no transaction: use the tx of db.Transaction, of Begin, or of a hook of a statement that has one", fault.ErrUnmanagedTransaction)
	case *sql.Tx:
	case gorm.TxCommitter:
		ctx := context.WithoutCancel(db.Statement.Context)
		_, _ = db.Statement.ConnPool.ExecContext(context.WithValue(ctx, answerKey{}, &found), question)
	}
	if found == nil || found.owner != o {
		return nil, fmt.Errorf("%w: tx runs on a %T that the plugin did not hand out: use a session that was made after db.Use, and the plugin before all others",
			fault.ErrUnmanagedTransaction, Unwrapped(db.Statement.ConnPool))
	}
	return found, nil
}
