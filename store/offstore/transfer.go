package offstore

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

var _ pathlock.TransferStore = (*Store)(nil)

// Transfer says that a hold of no grants has gone over, which lasts for as long as it is asked to,
// or for a default lease.
func (s *Store) Transfer(_ context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	if err := t.Validate(); err != nil {
		return pathlock.Transferred{}, fmt.Errorf("offstore: %w", err)
	}
	left := t.Lease
	if left == 0 {
		left = pathlock.DefaultLease
	}
	return pathlock.Transferred{Left: left}, nil
}
