package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// transcripts plays a file of testdata in virtual time, in a world of its own for each of its
// parts. Comments at the top of the file tell what its lines mean.
func transcripts(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	testerr.Must(t, err)
	for _, part := range strings.Split(string(text), "\n## ")[1:] {
		title, lines, _ := strings.Cut(part, "\n")
		for which, script := range variants(strings.Split(lines, "\n")) {
			t.Run(title+which, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { newStage(t).play(script) })
			})
		}
	}
}

func TestDetach(t *testing.T)  { transcripts(t, "detach.txt") }
func TestLease(t *testing.T)   { transcripts(t, "lease.txt") }
func TestRelease(t *testing.T) { transcripts(t, "release.txt") }
func TestScope(t *testing.T)   { transcripts(t, "scope.txt") }
func TestMutex(t *testing.T)   { transcripts(t, "mutex.txt") }
func TestDegrade(t *testing.T) { transcripts(t, "degrade.txt") }

// variants returns the script of a part for each of the values that stand below "each NAMES" in it.
func variants(lines []string) map[string][]string {
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "each ") })
	if at < 0 {
		return map[string][]string{"": lines}
	}
	end := at + 1
	for strings.HasPrefix(lines[end], "  ") {
		end++
	}
	names, all := strings.Split(lines[at][len("each "):], " ~ "), map[string][]string{}
	for which, rest := range variants(lines[end:]) {
		for _, values := range lines[at+1 : end] {
			var pairs []string
			for i, value := range strings.Split(strings.TrimSpace(values), " ~ ") {
				pairs = append(pairs, names[i], value)
			}
			script := strings.NewReplacer(pairs...).Replace(strings.Join(slices.Concat(lines[:at], rest), "\n"))
			all[", "+strings.TrimSpace(values)+which] = strings.Split(script, "\n")
		}
	}
	return all
}

// play runs the lines of a script, and ends what they leave.
func (s *stage) play(lines []string) {
	defer s.end()
	for _, line := range lines {
		for command := range strings.SplitSeq(line, ";") {
			if command = strings.TrimSpace(command); command != "" && command[0] != '#' {
				s.line(command)
			}
		}
	}
}

// perName are the commands that may be given several names, one after the other.
var perName = []string{"await", "cause", "claims", "degraded", "detach", "err", "pending", "release"}

// line runs one command, or begins it, and compares what it returns.
func (s *stage) line(line string) {
	s.Helper()
	command, want, _ := strings.Cut(line, " -> ")
	name, rest, named := strings.Cut(command, " := ")
	if !named {
		name, rest = "", command
	}
	if begun, ok := strings.CutSuffix(rest, " &"); ok {
		over := make(future, 1)
		s.things[name] = over
		go func() { over <- s.run(begun) }()
		synctest.Wait()
		return
	}
	verb, args, _ := strings.Cut(rest, " ")
	runs := []string{rest}
	if slices.Contains(perName, verb) {
		runs = strings.Fields(args)
		for i := range runs {
			runs[i] = verb + " " + runs[i]
		}
	}
	for _, run := range runs {
		got := s.run(run)
		synctest.Wait()
		if named {
			s.things[name] = got.value
		} else if held, ok := got.value.(*held); ok {
			s.things[fmt.Sprint("unnamed ", len(s.things))] = held
		}
		if !s.fits(got, want) {
			s.Fatalf("%s\n\t%s: %v, %v", line, run, got.value, got.err)
		}
	}
}

// run runs a command: words, and options such as lease=5m. Acquisitions begin with their process.
func (s *stage) run(text string) result {
	s.Helper()
	c := call{stage: s, options: map[string]string{}}
	for _, word := range strings.Fields(text) {
		if key, value, ok := strings.Cut(word, "="); ok && value != "" {
			c.options[key] = value
		} else {
			c.words = append(c.words, word)
		}
	}
	if p := s.processes[c.words[0]]; p != nil {
		return c.acquire(p, strings.Join(c.words[1:], " "))
	}
	do := commands[c.words[0]]
	if do == nil {
		s.Fatalf("what is %s?", text)
	}
	c.words = c.words[1:]
	value, err := do(&c)
	return result{value, err}
}

// result is what a command returns: a lock, a context, a token, or what is compared as text.
type result struct {
	value any
	err   error
}

// future is what a command will return that was begun in the background.
type future chan result

// expected are the words of what is wanted: errors, and quoted parts of their texts.
var expected = regexp.MustCompile(`"[^"]*"|\S+`)

// fits compares a result with what is wanted: all errors, the text of the value, or a range A..B of
// durations or numbers. Nothing wanted is anything without an error.
func (s *stage) fits(got result, want string) bool {
	if got.err == nil {
		if low, high, ok := strings.Cut(want, ".."); ok {
			return number(low) <= number(fmt.Sprint(got.value)) && number(fmt.Sprint(got.value)) <= number(high)
		}
		return want == "" || fmt.Sprint(got.value) == want
	}
	for _, word := range expected.FindAllString(want, -1) {
		part, quoted := strings.CutPrefix(word, `"`)
		cause, known := s.causes[word]
		switch {
		case quoted && !strings.Contains(got.err.Error(), strings.TrimSuffix(part, `"`)):
			return false
		case known && !errors.Is(got.err, cause):
			return false
		case !quoted && !known && string(pathlock.FailureOf(got.err)) != word:
			return false
		}
	}
	return want != ""
}

func number(s string) float64 {
	if d, err := time.ParseDuration(s); err == nil {
		return float64(d)
	}
	n, _ := strconv.ParseFloat(s, 64)
	return n
}

// call is a command that runs.
type call struct {
	*stage
	words   []string
	options map[string]string
}

// time returns the sum of the durations among the words from one on.
func (c *call) time(from int) (sum time.Duration) {
	for _, word := range c.words[from:] {
		d, err := time.ParseDuration(word)
		testerr.Must(c, err)
		sum += d
	}
	return sum
}

// option returns an option that is a duration.
func (c *call) option(name string, or time.Duration) time.Duration {
	switch value := c.options[name]; value {
	case "":
		return or
	case "default":
		return 0
	case "forever":
		return pathlock.Forever
	default:
		d, err := time.ParseDuration(value)
		testerr.Must(c, err)
		return d
	}
}

// under returns the context that a command works under.
func (c *call) under() context.Context { return c.context(c.options["under"]) }
