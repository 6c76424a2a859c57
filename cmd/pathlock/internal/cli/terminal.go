package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) //nolint:gosec // file descriptors are small
}

// unlimited is the width and height of what is no terminal.
const unlimited = 1 << 20

// sizeOf returns the width and the height of a terminal.
func sizeOf(out io.Writer) (width, height int) {
	if file, ok := out.(*os.File); ok && isTerminal(out) {
		if width, height, err := term.GetSize(int(file.Fd())); err == nil && width > 0 { //nolint:gosec // file descriptors are small
			return width, height
		}
	}
	return unlimited, unlimited
}
