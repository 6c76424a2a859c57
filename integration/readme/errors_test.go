package readme

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of answers has each error with the failure that it states, and with 500 if it states
// none. Errors that no handler gets are left out.
func TestAnswers_haveTheErrors(t *testing.T) {
	root := filepath.Join("..", "..")
	page := readPage(t, filepath.Join(root, "docs", "middleware.md"))
	sentinel := regexp.MustCompile(`(?m)^\t(Err\w+) += (?:\w+\.)?(?:Failure(\w+)\.|errors\.)New\(`)
	slug := regexp.MustCompile(`(?m)^\tFailure(\w+) Failure = "(.*)"`)
	slugs := map[string]string{}
	for _, found := range slug.FindAllStringSubmatch(readPage(t, filepath.Join(root, "errors.go")), -1) {
		slugs[found[1]] = found[2]
	}
	for _, file := range []string{"errors.go", "lockspec/values.go", "gormplugin/internal/fault/errors.go"} {
		for _, found := range sentinel.FindAllStringSubmatch(readPage(t, filepath.Join(root, file)), -1) {
			name, answer := found[1], cmp.Or(slugs[found[2]], "internal")
			switch name {
			case "ErrNull", "ErrSpec":
				continue
			case "ErrHeldTooLong":
				answer = "timeout"
			}
			for line := range strings.Lines(page) {
				if strings.Contains(line, "| `"+answer+"` |") && !regexp.MustCompile("[`.]"+name+"`").MatchString(line) {
					t.Errorf("the line of %s lacks %s", answer, name)
				}
			}
		}
	}
}
