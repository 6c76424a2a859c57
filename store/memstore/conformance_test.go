package memstore_test

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() }, storetest.Virtual())
}
