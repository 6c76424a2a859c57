package testserver

import (
	"flag"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// waitTogether is how many parallel tests of a package run at a time where all of them wait, for
// leases to end and for servers to fail over. idleTogether is the same where they do hardly
// anything else.
const (
	waitTogether = 4
	idleTogether = 8
)

// WaitTogether has more parallel tests run at a time than there are cores, unless the command line
// asks for one at a time, or for more. It is for the TestMain of a package whose tests wait most of
// the time.
func WaitTogether() error { return together(waitTogether) }

// Main runs the tests of a package as [WaitTogether] says, and fails if they leave goroutines
// behind.
func Main(m *testing.M) {
	if err := WaitTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// IdleTogether is WaitTogether for tests that hardly use a core, such as those of leases.
func IdleTogether() error { return together(idleTogether) }

func together(n int) error {
	const parallel = "test.parallel"
	flag.Parse()
	asked := 0 // the default is the number of cores
	flag.Visit(func(f *flag.Flag) {
		if f.Name == parallel {
			asked, _ = strconv.Atoi(f.Value.String())
		}
	})
	if asked == 1 || asked >= n {
		return nil
	}
	return flag.Set(parallel, strconv.Itoa(n))
}
