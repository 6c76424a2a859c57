package doctor

import "time"

// Shifted returns options under which the clock of the server at an address is ahead.
func Shifted(addr string, by time.Duration) Options {
	return Options{shift: func(about string) time.Duration {
		if about == addr {
			return by
		}
		return 0
	}}
}

// Commands returns the commands that the user of a store in Redis must be able to run.
func Commands() string { return aclCommands }
