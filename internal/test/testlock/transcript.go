package testlock

import (
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

// Stage is the world of a transcript.
type Stage struct {
	*testing.T
	// Things are what commands returned, by the names that the transcript gives them.
	Things map[string]any
	// Causes are the errors by the words for them.
	Causes map[string]error
	// Run runs a command. Its result gets a name, or is compared.
	Run func(c *Call) (any, error)
	// PerName are the commands that may be given several names, to do the same with each.
	PerName []string
	// End ends what a transcript has left.
	End func()
}

// Call is a command: its text, and the words of that without options such as lease=5m.
type Call struct {
	Text    string
	Words   []string
	Options map[string]string
}

// Fitting is a value that knows what may be expected of it.
type Fitting interface{ Fits(want string) bool }

// Transcripts plays a file of testdata in virtual time, in a world of its own for each of its
// parts. A line is a command, or several with " ; " between them, and behind "->" what it returns:
// a text, a range A..B of durations or numbers, or all the errors that it matches. Without "->",
// there is no error. "name :=" names what it returns. With "&" at its end, it runs in the
// background until "await name". A part is played with each of the values that stand below "each
// NAMES" in it.
func Transcripts(t *testing.T, file string, newStage func(t *testing.T) *Stage) {
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
func (s *Stage) play(lines []string) {
	defer s.End()
	for _, line := range lines {
		for command := range strings.SplitSeq(line, " ; ") {
			if command = strings.TrimSpace(command); command != "" && command[0] != '#' {
				s.line(command)
			}
		}
	}
}

// line runs one command, or begins it, and compares what it returns.
func (s *Stage) line(line string) {
	s.Helper()
	command, want, _ := strings.Cut(line, " -> ")
	name, rest, named := strings.Cut(command, " := ")
	if !named {
		name, rest = "", command
	}
	if begun, ok := strings.CutSuffix(rest, " &"); ok {
		over := make(future, 1)
		s.Things[name] = over
		go func() { over <- s.run(begun) }()
		synctest.Wait()
		return
	}
	verb, args, _ := strings.Cut(rest, " ")
	runs := []string{rest}
	if slices.Contains(s.PerName, verb) {
		runs = strings.Fields(args)
		for i := range runs {
			runs[i] = verb + " " + runs[i]
		}
	}
	for _, run := range runs {
		got := s.run(run)
		synctest.Wait()
		if named {
			s.Things[name] = got.value
		} else if got.value != nil {
			s.Things[fmt.Sprint("unnamed ", len(s.Things))] = got.value
		}
		if !s.fits(got, want) {
			s.Fatalf("%s\n\t%s: %v, %v", line, run, got.value, got.err)
		}
	}
}

// run runs a command.
func (s *Stage) run(text string) result {
	s.Helper()
	c := Call{Text: text, Options: map[string]string{}}
	for _, word := range strings.Fields(text) {
		if key, value, ok := strings.Cut(word, "="); ok && value != "" {
			c.Options[key] = value
		} else {
			c.Words = append(c.Words, word)
		}
	}
	switch c.Words[0] {
	case "sleep":
		time.Sleep(c.Time(s, 1))
		return result{}
	case "pending":
		if len(s.Things[c.Words[1]].(future)) > 0 {
			return result{nil, errors.New("it is over")}
		}
		return result{}
	case "await":
		got := <-s.Things[c.Words[1]].(future)
		s.Things[c.Words[1]] = got.value
		return got
	}
	value, err := s.Run(&c)
	return result{value, err}
}

// Time returns the sum of the durations among the words from one on.
func (c *Call) Time(t testing.TB, from int) (sum time.Duration) {
	t.Helper()
	for _, word := range c.Words[from:] {
		d, err := time.ParseDuration(word)
		testerr.Must(t, err)
		sum += d
	}
	return sum
}

// Option returns an option that is a duration, and or if it is not given.
func (c *Call) Option(t testing.TB, name string, or time.Duration) time.Duration {
	t.Helper()
	value, ok := c.Options[name]
	if !ok {
		return or
	}
	d, err := time.ParseDuration(value)
	testerr.Must(t, err)
	return d
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
func (s *Stage) fits(got result, want string) bool {
	if fitting, ok := got.value.(Fitting); ok && got.err == nil {
		return want == "" || fitting.Fits(want)
	}
	if got.err == nil {
		if low, high, ok := strings.Cut(want, ".."); ok {
			return number(low) <= number(fmt.Sprint(got.value)) && number(fmt.Sprint(got.value)) <= number(high)
		}
		return want == "" || fmt.Sprint(got.value) == want
	}
	for _, word := range expected.FindAllString(want, -1) {
		part, quoted := strings.CutPrefix(word, `"`)
		cause, known := s.Causes[word]
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
