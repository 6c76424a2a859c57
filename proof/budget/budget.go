// Package budget tells the checks of make prove how long they have, and hands on what they find.
package budget

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The environment variables by which make prove tells a check what to do.
const (
	TimeVariable = "PROVE_TIME" // how long each check goes on, such as 2m
	SeedVariable = "PROVE_SEED" // the seed to begin with, instead of a random one
)

// mark begins the lines that [Report] prints.
const mark = "PROVED "

// Time returns how long a check goes on: a second unless make prove says otherwise.
func Time() time.Duration {
	if d, err := time.ParseDuration(os.Getenv(TimeVariable)); err == nil {
		return d
	}
	return time.Second
}

// Seed returns the seed to begin with: a random one unless it is given.
func Seed() uint64 {
	if seed, err := strconv.ParseUint(os.Getenv(SeedVariable), 10, 64); err == nil {
		return seed
	}
	return rand.Uint64N(1_000_000_000)
}

// Report prints what a check has done: names and numbers in turn.
func Report(t testing.TB, numbers ...any) {
	t.Helper()
	line := mark + t.Name()
	for i := 0; i < len(numbers); i += 2 {
		line += fmt.Sprintf("\t%v=%v", numbers[i], numbers[i+1])
	}
	fmt.Println(line)
}

// Parse reads a line of [Report]'s.
func Parse(line string) (test string, numbers map[string]string, ok bool) {
	_, rest, ok := strings.Cut(strings.TrimSpace(line), mark)
	fields := strings.Split(rest, "\t")
	numbers = make(map[string]string)
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		numbers[name] = value
	}
	return fields[0], numbers, ok
}
