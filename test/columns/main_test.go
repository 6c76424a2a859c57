package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	const word = "word "
	wide := strings.TrimSpace(strings.Repeat(word, 30))
	half := strings.TrimSpace(strings.Repeat(word, 19)) // as many as fit beside a marker
	rest := strings.TrimSpace(strings.Repeat(word, 11))
	for name, c := range map[string]struct{ file, before, after string }{
		"prose is wrapped":               {"a.go", "// " + wide, "// " + half + "\n// " + rest},
		"a paragraph is wrapped as one":  {"a.go", "// " + wide + "\n// end", "// " + half + "\n// " + rest + " end"},
		"paragraphs stay apart":          {"a.go", "// " + wide + "\n//\n// end", "// " + half + "\n// " + rest + "\n//\n// end"},
		"a tab is four columns wide":     {"a.go", "\t// " + half, "\t// " + half[len(word):] + "\n\t// word"},
		"Lua is wrapped, too":            {"a.lua", "-- " + wide, "-- " + half + "\n-- " + rest},
		"what fits stays":                {"a.go", "// " + half + "\n// end", ""},
		"code in a comment stays":        {"a.go", "//\t" + wide, ""},
		"a list stays":                   {"a.go", "// - " + wide + "\n//   " + wide, ""},
		"what introduces a list stays":   {"a.go", "// " + wide + "\n// - one", ""},
		"columns stay":                   {"a.lua", "-- key  " + wide, ""},
		"diagrams stay":                  {"a.go", "// a ──► " + wide, ""},
		"a long word stays":              {"a.go", "// " + strings.Repeat("x", 120), ""},
		"the output of an example stays": {"a.go", "// Output:\n// " + wide, ""},
		"a directive stays":              {"a.go", "//go:build " + wide, ""},
		"a comment behind code stays":    {"a.go", "x := 1 // " + wide, ""},
		"other files are not looked at":  {"a.md", "// " + wide, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			want, found := c.after, 1
			if want == "" {
				want, found = c.before, 0
			}
			for _, fix := range []bool{false, true} {
				if n, err := check(file, fix); err != nil || n != found {
					t.Errorf("%d are too wide, error %v; want %d", n, err, found)
				}
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != want {
				t.Errorf("wrapped:\n%s\nerror %v, want:\n%s", got, err, want)
			}
			if n, err := check(file, false); err != nil || n != 0 {
				t.Errorf("%d are too wide after that, error %v", n, err)
			}
		})
	}
}
