package plans

import (
	"context"

	"gorm.io/gorm"
)

// recorderKey is the context key of the function of [Recording].
type recorderKey struct{}

// Recording returns a context in which a change hands its result to record, as the last step of its
// transaction: so the answer to a request can be committed together with the change.
func Recording(ctx context.Context, record func(tx *gorm.DB, result any) error) context.Context {
	return context.WithValue(ctx, recorderKey{}, record)
}

// recorded adds that step to a change. result points to what the change returns.
func recorded(result any, do func(tx *gorm.DB) error) func(tx *gorm.DB) error {
	return func(tx *gorm.DB) error {
		if err := do(tx); err != nil {
			return err
		}
		if record, ok := tx.Statement.Context.Value(recorderKey{}).(func(*gorm.DB, any) error); ok {
			return record(tx, result)
		}
		return nil
	}
}
