package etcdstore

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestConformance(t *testing.T) {
	_, client := newServer(t)
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newStore(t, client) })
}
