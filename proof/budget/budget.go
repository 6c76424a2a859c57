// Package budget tells the checks of make prove how long they have, and hands on what they find.
package budget

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
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
	named := make(map[string]any)
	for i := 0; i < len(numbers); i += 2 {
		named[fmt.Sprint(numbers[i])] = numbers[i+1]
	}
	text, err := json.Marshal(named)
	testerr.Must(t, err)
	fmt.Printf("%s%s %s\n", mark, t.Name(), text)
}

// Parse reads a line of [Report]'s.
func Parse(line string) (test string, numbers map[string]int, ok bool) {
	_, rest, ok := strings.Cut(line, mark)
	test, text, _ := strings.Cut(rest, " ")
	return test, numbers, ok && json.Unmarshal([]byte(text), &numbers) == nil
}
