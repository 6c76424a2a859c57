package dialect

import (
	"context"
	"database/sql"
)

// probe is how a database is asked whether a transaction has ended.
type probe struct {
	// Harmless reports whether an error is known to leave the transaction open.
	Harmless func(error) bool
	// Open reports whether the transaction is open. An error means that it cannot be told.
	Open func(context.Context, *sql.Tx) (bool, error)
}
