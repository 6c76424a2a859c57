package command_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Every tree has a name of its own, which is read as that tree: one word that a shell leaves alone,
// and in which nothing is invisible.
func TestTreeName_isReadAsItsTree(t *testing.T) {
	text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("a/%-25 $`;&|>'\"\\*{}?[]~#!^=計\u202e\u3000\u3164\u200b")), rapid.Rune()))
	names := make(map[string]pathlock.Tree)
	rapid.Check(t, func(t *rapid.T) {
		tree, err := pathlock.NewTree(text.Draw(t, "namespace"), text.Draw(t, "id"))
		if err != nil {
			t.Skip(err)
		}
		name := command.NameOf(tree)
		if read, err := command.ParseTree(name); err != nil || read != tree {
			t.Fatalf("%q of %q is read as %q: %v", name, tree, read, err)
		}
		if other, taken := names[name]; taken && other != tree {
			t.Fatalf("%q and %q are both called %q", tree, other, name)
		}
		names[name] = tree
		shell := func(r rune) bool {
			return strings.ContainsRune("$`;&|<>'\"\\*{}?[]()~#!^= ", r) || !unicode.IsPrint(r) ||
				unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
		}
		if strings.HasPrefix(name, "-") || strings.ContainsFunc(name, shell) {
			t.Fatalf("%q is called %q", tree, name)
		}
	})
	for _, name := range []string{"plan-001", "a/100%", "/x"} {
		if _, err := command.ParseTree(name); err == nil {
			t.Errorf("%s is read as a tree", name)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

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
