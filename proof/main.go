// Program proof looks for faults, for as long as it is told to, and prints what it has tried, as a
// table by the guarantees of README.md. make prove runs it.
//
//	go run ./proof -time=10m        everything, on all processors
//	go run ./proof -seed=4711       one world again
//	go run ./proof -plant           puts bugs into the code, one by one, and prints what catches them
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/proof/budget"
)

func main() {
	length := flag.Duration("time", 10*time.Minute, "how long to go on")
	seed := flag.String("seed", "", "the seed of the one world to repeat")
	plant := flag.Bool("plant", false, "plant bugs instead")
	write := flag.Bool("write", false, "write the table into "+page)
	only := flag.String("only", "", "plant only the bugs whose file or name has this text")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *length, *seed, *plant, *only, *write)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, length time.Duration, seed string, plant bool, only string, write bool) error {
	switch {
	case plant:
		caught, all, err := plantAll(ctx, only, write)
		if err == nil && caught < all {
			err = errors.New("a bug is caught by nothing")
		}
		return err
	case seed != "":
		out, failed := goTest(ctx, []string{budget.SeedVariable + "=" + seed, budget.TimeVariable + "=0s"}, "-v", "-run", "TestSimulation($|_memory$)", "./proof/simulation")
		fmt.Print(out)
		if failed {
			return errors.New("it has failed again")
		}
		return nil
	default:
		return prove(ctx, length, write)
	}
}

// goTest runs tests with more variables in the environment.
func goTest(ctx context.Context, variables []string, args ...string) (out string, failed bool) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off", "-count=1"}, args...)...)
	cmd.Env = append(append(os.Environ(), "GODEBUG=asyncpreemptoff=1"), variables...)
	defer ownGroup(cmd)()
	text, err := cmd.CombinedOutput()
	return string(text), err != nil
}

// stage is a test that gets a share of the time.
type stage struct {
	pkg, test string
	percent   int
	each      bool     // a process for each processor
	servers   []string // the variables that name them
}

// The rest of the time is for the compiler.
var stages = []stage{
	{"simredis", "TestSimredis_isRedis", 3, false, onRedis},
	{"smallworld", "TestScripts_realRedis", 5, false, onRedis},
	{"smallworld", "TestQueue_smallWorld", 23, false, nil},
	{"smallworld", "TestQueue_randomWorld", 3, false, nil},
	{"smallworld", "TestScripts_smallWorld", 14, false, nil},
	{"simulation", "TestSimulation", 21, true, nil},
	{"simulation", "TestSimulation_memory", 8, true, nil},
	{"histories", "TestHistories_SQLite", 2, false, nil},
	{"histories", "TestHistories_MariaDB", 2, false, append(onRedis, testserver.MariaDBVariable)},
	{"histories", "TestHistories_MySQL", 2, false, append(onRedis, testserver.MySQLVariable)},
	{"histories", "TestHistories_PostgreSQL", 2, false, append(onRedis, testserver.PostgresVariable)},
}

var onRedis = []string{testserver.RedisVariable}

// prove runs all stages, and prints the table.
func prove(ctx context.Context, length time.Duration, write bool) error {
	began, left := time.Now(), 0
	dir, err := os.MkdirTemp("", "proof")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", dir, "./proof/simredis", "./proof/smallworld", "./proof/simulation", "./proof/histories")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building: %w", err)
	}
	found := make(results)
	for _, s := range stages {
		if n := slices.IndexFunc(s.servers, func(v string) bool { return !testserver.Available(v) }); n >= 0 {
			fmt.Printf("%s is left out: %s is not set\n", s.test, s.servers[n])
			left++
			continue
		}
		processes := 1
		if s.each {
			processes = runtime.GOMAXPROCS(0)
		}
		var all sync.WaitGroup
		outs, failures := make([]bytes.Buffer, processes), make([]error, processes)
		for i := range processes {
			share := length * time.Duration(s.percent) / 100
			ends := 2*share + 5*time.Minute // what is under way then does not end
			cmd := exec.CommandContext(ctx, filepath.Join(dir, s.pkg+".test"), "-test.v", "-test.timeout="+ends.String(), "-test.run", "^"+s.test+"$")
			cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", budget.TimeVariable+"="+share.String())
			cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
			all.Go(func() {
				defer ownGroup(cmd)()
				failures[i] = cmd.Run()
			})
		}
		all.Wait()
		for i, out := range outs {
			if failures[i] != nil {
				fmt.Print(out.String())
				return fmt.Errorf("%s: %w", s.test, failures[i])
			}
			for line := range strings.Lines(out.String()) {
				found.add(line)
			}
		}
	}
	fmt.Print("\n" + found.table())
	if !write {
		return nil
	}
	if left > 0 {
		return errors.New("what is left out cannot be written into the page")
	}
	return writeSection("Guarantees", found.table(), began)
}

// results are what the tests report: sums by test and name.
type results map[string]int

func (r results) add(line string) {
	test, numbers, ok := budget.Parse(line)
	if !ok {
		return
	}
	fmt.Print(line)
	for name, n := range numbers {
		r[test+" "+name] += n
	}
}
