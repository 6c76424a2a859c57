package anystore_test

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// What a URL names keeps every promise that the store itself keeps.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) pathlock.Store { return open(t, "memory://") })
}
