package samplepage

import "testing"

// On two instances, two windows see each other's changes and locks, and wait for each other.
func TestInstances_windowsOnTwo(t *testing.T) {
	here, there := two(t)
	t.Run("refused", func(t *testing.T) { refusedAndRetried(bench(t, here.in(t), there.in(t), "a/b", "c")) })
	t.Run("waits", func(t *testing.T) { waitsItsTurn(bench(t, here.in(t), there.in(t), "a/b", "c")) })
}
