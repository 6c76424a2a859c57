package main

import "testing"

// TestPlants: the text that each planted bug replaces is still in its file, once.
func TestPlants(t *testing.T) {
	t.Chdir("..") // files are named from the root of the repository
	for _, p := range plants() {
		if _, err := p.overlay(t.TempDir()); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}
