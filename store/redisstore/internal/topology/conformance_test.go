package topology

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// TestConformance: TestDocumentedUser runs the suite on the other deployments.
func TestConformance(t *testing.T) {
	forEach(t, func(t *testing.T, d *deployment) {
		client := d.client(t)
		storetest.Run(t, func(t *testing.T) pathlock.Store { return open(t, client) })
	}, "single", "cluster")
}
