package command_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// words splits a line as a shell does, as far as the page needs it.
var words = regexp.MustCompile(`"[^"]*"|\S+`)

// The commands of the page are valid.
func TestOperatingPage_commandsAreValid(t *testing.T) {
	t.Setenv("PATHLOCK_DB", "sqlite://plans.db") // the page exports it first
	for _, name := range []string{"operating.md", "operating.zh-CN.md"} {
		text, err := os.ReadFile("../../../docs/" + name)
		testerr.Must(t, err)
		page := string(text)
		commands := 0
		for _, block := range regexp.MustCompile("(?s)```(?:sh|text)\n(.*?)```").FindAllStringSubmatch(page, -1) {
			for line := range strings.Lines(block[1]) {
				line = regexp.MustCompile(` +#.*| \| .*|\)`).ReplaceAllString(strings.TrimSpace(line), "")
				line = strings.TrimPrefix(strings.TrimPrefix(line, "source <("), "$ ")
				rest, ok := strings.CutPrefix(line, "pathlock ")
				if !ok {
					continue
				}
				commands++
				var args []string
				for _, word := range words.FindAllString(rest, -1) {
					args = append(args, strings.Trim(word, `"`))
				}
				if err := command.Parse(args...); err != nil {
					t.Errorf("%s: %s: %v", name, line, err)
				}
			}
		}
		if commands < 7 {
			t.Errorf("%s has %d commands", name, commands)
		}
	}
	if command.Parse("doctor", "--no-such-flag") == nil {
		t.Error("a flag that does not exist is taken")
	}
}
