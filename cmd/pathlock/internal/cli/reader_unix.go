//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasNoReader reports whether out is a pipe from which nobody reads. A program that writes only now
// and then would learn of it late.
func hasNoReader(out any) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	asked := []unix.PollFd{{Fd: int32(file.Fd())}} //nolint:gosec // file descriptors are small
	n, err := unix.Poll(asked, 0)
	return err == nil && n > 0 && asked[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
