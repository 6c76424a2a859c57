package readme

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/program"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// sent runs the lines of the README's shell blocks that send something to an address, one after the
// other, to another address, and returns the answers. A status other than success fails the test.
func sent(t *testing.T, documented, addr string) (answers []string) {
	t.Helper()
	home := t.TempDir()
	testerr.Must(t, os.WriteFile(filepath.Join(home, ".curlrc"), []byte("fail-with-body\nsilent\nshow-error\n"), 0o600))
	for _, block := range shellBlock.FindAllStringSubmatch(readPage(t, filepath.Join("..", "..", "README.md")), -1) {
		for line := range strings.Lines(block[1]) {
			if !strings.HasPrefix(line, "curl ") || !strings.Contains(line, "http://"+documented+"/") {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, documented, addr))
			cmd.Env = append(os.Environ(), "CURL_HOME="+home)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s%v: %s", line, err, out)
			}
			answers = append(answers, string(out))
		}
	}
	return answers
}

// The commands of the README work one after the other, as they stand, on a new database of the
// sample app, and on the program that it shows.
func TestREADME_commandsWork(t *testing.T) {
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			testserver.Missing(t, err.Error())
		}
	}
	answers := sent(t, "127.0.0.1:8080", program.Serve(t, program.Build(t, "sample-app")))
	if !strings.Contains(answers[0], "GET    /api/plans/:plan/tree") {
		t.Errorf("the first command does not show the routes: %s", answers[0])
	}
	if tree := answers[len(answers)-1]; !strings.Contains(tree, `"path":"/sign-in/errors"`) {
		t.Errorf("the tree is %s in the end", tree)
	}
	answers = sent(t, "127.0.0.1:8090", program.Serve(t, program.Build(t, "integration", "readme", "quickstart")))
	if tree := answers[3]; !strings.Contains(tree, `"path":"/post/1876"`) {
		t.Errorf("the folders are %s before the last command", tree)
	}
}

// The program starts although another process makes the root behind its look, which it does not
// see: this one has a parent of 0, which is none.
func TestREADME_programsStartAtOnce(t *testing.T) {
	dir, addr := t.TempDir(), testnet.FreeAddr(t)
	database(t, filepath.Join(dir, "folders.db"),
		`CREATE TABLE folders (id INTEGER PRIMARY KEY AUTOINCREMENT, shelf_id INTEGER, parent_id INTEGER, name TEXT, path TEXT)`,
		`INSERT INTO folders VALUES (1, 1, 0, '', '')`)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program.Build(t, "integration", "readme", "quickstart"), "-addr", addr)
	cmd.Dir = dir
	program.Run(t, cmd, addr)
}
