//go:build !unix

package main

import "os/exec"

// ownGroup does nothing: the platform has no process groups.
func ownGroup(*exec.Cmd) (end func()) { return func() {} }
