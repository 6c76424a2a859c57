package cli

import (
	"fmt"
	"os"
)

// openLog opens the log that a flag names, to append to it. It returns nil if the name is empty.
func openLog(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	log, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return log, nil
}
