package readme

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// commands returns the lines of a page's shell blocks that send something to an address.
func commands(t *testing.T, name, addr string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			if strings.HasPrefix(line, "curl ") && strings.Contains(line, "http://"+addr+"/") {
				found = append(found, line)
			}
		}
	}
	if len(found) < 4 {
		t.Fatalf("%s has %d commands for %s", name, len(found), addr)
	}
	return found
}

// built builds a program of the repository.
func built(t *testing.T, folder string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// run runs a program in a folder of its own, and returns its address. At the end of the test, the
// program gets a signal and must exit with 0.
func run(t *testing.T, binary string, args ...string) (addr string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, append([]string{"--addr", addr}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", binary, err)
		}
	})
	for end := time.Now().Add(30 * time.Second); ; {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
			return addr
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not answer: %v", binary, err)
		}
	}
}

// sent runs the commands one after the other, as a shell does, and returns the answers. A status
// other than success fails the test.
func sent(t *testing.T, commands []string, documented, addr string) (answers []string) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".curlrc"), []byte("fail-with-body\nsilent\nshow-error\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range commands {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, documented, addr))
		cmd.Env = append(os.Environ(), "CURL_HOME="+home)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s%v: %s", line, err, out)
		}
		answers = append(answers, string(out))
	}
	return answers
}

// needCurl skips a test if there is no curl.
func needCurl(t *testing.T) {
	t.Helper()
	for _, program := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			testserver.Missing(t, err.Error())
		}
	}
}

// The commands of the READMEs work one after the other, as they stand, on a new database of the
// sample app.
func TestTheCommandsForTheSampleAppWork(t *testing.T) {
	needCurl(t)
	binary := built(t, filepath.Join("..", "..", "sample-app"))
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		const documented = "127.0.0.1:8080"
		addr := run(t, binary)
		answers := sent(t, commands(t, name, documented), documented, addr)
		if !strings.Contains(answers[0], "GET    /api/plans/:plan/tree") {
			t.Errorf("%s: the first command does not show the routes: %s", name, answers[0])
		}
		if tree := answers[len(answers)-1]; !strings.Contains(tree, `"path":"/sign-in/errors"`) {
			t.Errorf("%s: the tree is %s in the end", name, tree)
		}
	}
}

// The program of the READMEs runs, and its commands work.
func TestTheQuickStartWorks(t *testing.T) {
	needCurl(t)
	binary := built(t, "quickstart")
	for _, page := range []string{"README.md", "README.zh-CN.md"} {
		t.Run(page, func(t *testing.T) {
			const documented = "127.0.0.1:8090"
			answers := sent(t, commands(t, page, documented), documented, run(t, binary))
			if tree := answers[3]; !strings.Contains(tree, `"path":"/post/1876"`) {
				t.Errorf("the folders are %s before the last command", tree)
			}
		})
	}
}

// condition is a GORM call that takes a client's text for a condition: with "1 OR 1=1" it means
// every row.
var condition = regexp.MustCompile(`\.(Take|First|Last|Find|Delete|Where|Or|Not|Having|Order|Group|Select|Joins|Exec|Raw)\(([^"()]*, *)?c\.(Param|Query|DefaultQuery|PostForm|GetHeader)\(`)

// No example, comment or test of the repository builds a condition from what a client sends.
func TestNoExampleTakesAClientsTextForACondition(t *testing.T) {
	for _, injection := range []string{`tx.Take(&suite, c.Param("id"))`, `db.Where(c.Query("q"))`, `Delete(&Suite{}, c.Param("id"))`} {
		if found := condition.MatchString("." + injection); !found {
			t.Errorf("%s is not seen", injection)
		}
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root && entry.Name() != ".." {
			return filepath.SkipDir
		}
		if extension := filepath.Ext(path); entry.IsDir() || extension != ".go" && extension != ".md" || entry.Name() == "commands_test.go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// cmp.Or has the name of one of GORM's methods, and is none.
		for _, call := range condition.FindAllString(strings.ReplaceAll(string(text), "cmp.Or(", "cmp_Or("), -1) {
			t.Errorf("%s: %s…: bind it: Take(&row, \"id = ?\", id)", path, call)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
