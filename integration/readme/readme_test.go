package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// Every Go block of the READMEs stands in a file of this package, to the letter, so that it
// compiles; and both READMEs show the same code.
func TestTheREADMEsShowCodeThatCompiles(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join("folders", "main.go"))
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	var shown []string
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		blocks := goBlock.FindAllStringSubmatch(string(text), -1)
		if len(blocks) < 5 {
			t.Errorf("%s has %d Go blocks", name, len(blocks))
		}
		var all strings.Builder
		for _, block := range blocks {
			all.WriteString(block[1])
			if !strings.Contains(code.String(), block[1]) {
				t.Errorf("%s shows code that is not compiled here:\n%s", name, block[1])
			}
		}
		shown = append(shown, all.String())
	}
	if shown[0] != shown[1] {
		t.Error("the READMEs show different code")
	}
}
