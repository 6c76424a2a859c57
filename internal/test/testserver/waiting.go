package testserver

import (
	"flag"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, and fails if they leave goroutines behind. It is for tests that
// wait most of the time, for leases to end and for servers to fail over: so many of the parallel
// ones run at a time even where there are fewer cores, unless the command line asks for one at a
// time, or for more.
func Main(m *testing.M, parallel int) {
	if err := together(parallel); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

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
