package testserver

import (
	"flag"
	"strconv"
)

// waitTogether is how many parallel tests of a package run at a time where all of them wait, for
// leases to end and for servers to fail over. idleTogether is the same where they do hardly
// anything else.
const (
	waitTogether = 4
	idleTogether = 12
)

// WaitTogether has more parallel tests run at a time than there are cores, unless the command line
// says how many. It is for the TestMain of a package whose tests wait most of the time.
func WaitTogether() error { return together(waitTogether) }

// IdleTogether is WaitTogether for tests that hardly use a core, such as those of leases in memory.
func IdleTogether() error { return together(idleTogether) }

func together(n int) error {
	const parallel = "test.parallel"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == parallel })
	if given {
		return nil
	}
	return flag.Set(parallel, strconv.Itoa(n))
}
