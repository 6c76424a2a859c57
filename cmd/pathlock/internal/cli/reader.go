package cli

import (
	"errors"
	"syscall"
)

// errNobodyReads says that whoever has read the output is gone.
var errNobodyReads = errors.New("nobody reads the output")

// readersError makes errNobodyReads of the error for a pipe without a reader. On its standard
// output, a program is ended by SIGPIPE before it gets that error.
func readersError(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return errNobodyReads
	}
	return err
}
