//go:build !unix

package cli

// hasNoReader reports nothing where a pipe cannot be asked: the next write fails.
func hasNoReader(any) bool { return false }
