package memstore

import (
	"context"
	"errors"

	"github.com/pathlock-go/pathlock"
)

// Transfer implements [pathlock.TransferStore].
func (s *Store) Transfer(context.Context, pathlock.Transfer) (pathlock.Transferred, error) {
	return pathlock.Transferred{}, errors.ErrUnsupported
}
