package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// guarantees are those of README.md, with the attempts to break them, and what no attempt covers. A
// name in braces is replaced by a number that a test reports.
//
//go:embed guarantees.txt
var guarantees string

var number = regexp.MustCompile(`\{(.*?)\}`)

// table returns guarantees.txt with the numbers filled in.
func (r results) table() string {
	return number.ReplaceAllStringFunc(guarantees, func(name string) string { return thousands(r[name[1:len(name)-1]]) })
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// page has the latest tables, for those who do not run the program themselves.
const page = "proof/README.md"

// writeSection replaces the text below a heading of the page, up to the next one, by a table. began
// is when the program began to fill it.
func writeSection(heading, table string, began time.Time) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		return fmt.Errorf("%s has no heading %q", page, heading)
	}
	_, after, more := strings.Cut(rest, "\n## ")
	if more {
		after = "\n## " + after
	}
	section := fmt.Sprintf("\n%s, in %v, on %d processors:\n\n%s", began.Format(time.DateOnly), time.Since(began).Round(time.Minute), runtime.GOMAXPROCS(0), table)
	return os.WriteFile(page, []byte(before+"\n## "+heading+"\n"+section+after), 0o600)
}
