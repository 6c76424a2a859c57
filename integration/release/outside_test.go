package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The version that the tests publish.
const next = "v0.999.0"

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	program    = regexp.MustCompile("(?s)```go\n([^`]*package main\n.*?)```")
	remark     = regexp.MustCompile(`\s+# .*`)
)

// visitor is somebody in an empty folder outside the repository who can download the modules.
type visitor struct {
	t   *testing.T
	dir string
	env []string
}

// run runs a line of a document's shell block to its end, and returns what it prints.
func (v visitor) run(line string) string {
	v.t.Helper()
	start := time.Now()
	cmd := v.command(line)
	var remarks strings.Builder
	cmd.Stderr = &remarks
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("%s: %v\n%s%s", line, err, out, &remarks)
	}
	v.t.Logf("%s: %s", line, time.Since(start))
	return string(out)
}

func (v visitor) command(line string) *exec.Cmd {
	// A test's context ends before its cleanups do.
	cmd := exec.CommandContext(context.WithoutCancel(v.t.Context()), "sh", "-c", line)
	cmd.Dir, cmd.Env = v.dir, v.env
	return cmd
}

// beginning returns the lines of the first shell block of a document that has a line with the given
// beginning, from that line on, without their remarks.
func beginning(t *testing.T, text, prefix string) []string {
	t.Helper()
	for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
		lines := strings.Split(strings.TrimRight(block[1], "\n"), "\n")
		for i := range lines {
			if lines[i] = remark.ReplaceAllString(lines[i], ""); strings.HasPrefix(lines[i], prefix) {
				for j := range lines[i:] {
					lines[i+j] = remark.ReplaceAllString(lines[i+j], "")
				}
				return lines[i:]
			}
		}
	}
	t.Fatalf("the document has no command %q", prefix)
	return nil
}

// documents returns the texts of the English pages for users, by their names.
func documents(t *testing.T, r repository) map[string]string {
	t.Helper()
	names, err := r.lines(t.Context(), "ls-files", "README.md", "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range names {
		if !strings.HasSuffix(name, ".zh-CN.md") {
			texts[name] = read(t, r, name)
		}
	}
	if !strings.Contains(texts["README.md"], "\ngo mod init ") {
		t.Fatal("README.md does not begin a program")
	}
	return texts
}

// The commands of the documents work outside the repository once a release of this tree is
// published: the program compiles against the published module, and the commands install and run.
func TestTheDocumentedCommandsWorkOutside(t *testing.T) {
	r := commit(t, here(t))
	if err := at(t, r, io.Discard, "-write", next); err != nil {
		t.Fatal(err)
	}
	env := outside(t, publish(t, r, next))
	readme := read(t, r, "README.md")

	t.Run("what is embedded is published, and the licence", func(t *testing.T) {
		v := visitor{t, t.TempDir(), env}
		const list = "go list -find -f '{{range .EmbedFiles}}{{$.Dir}}/{{.}}\n{{end}}' ./..."
		// The workspace downloads nothing for the version that the commit requires.
		checkout := visitor{t, string(r), append(os.Environ(), "GOFLAGS=", "GOWORK=", "GOPROXY=off")}
		checkout.run("go list -deps ./sample-app")
		embedded := 0
		for _, folder := range published {
			var download struct{ Dir string }
			if err := json.Unmarshal([]byte(v.run("go mod download -json "+modulePath(folder)+"@"+next)), &download); err != nil {
				t.Fatal(err)
			}
			for name := range strings.Lines(checkout.run("cd ./" + folder + " && " + list)) {
				embedded++
				name, err := filepath.Rel(filepath.Join(string(r), folder), strings.TrimSpace(name))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(filepath.Join(download.Dir, name)); err != nil {
					t.Errorf("%s embeds %s: %v", folder, name, err)
				}
			}
			if _, err := os.Stat(filepath.Join(download.Dir, "LICENSE")); err != nil {
				t.Error(err)
			}
		}
		if embedded == 0 {
			t.Error("nothing is embedded: the test compares nothing")
		}
	})

	for name, text := range documents(t, r) {
		if !strings.Contains(text, "\ngo mod init ") {
			continue
		}
		t.Run("the program of "+name, func(t *testing.T) {
			v := visitor{t, t.TempDir(), env}
			code := program.FindStringSubmatch(text)
			if code == nil {
				t.Fatal("there is no program")
			}
			if err := os.WriteFile(filepath.Join(v.dir, "main.go"), []byte(code[1]), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, line := range beginning(t, text, "go mod init ") {
				// The program serves until it is stopped. Package readme has the test that runs it.
				if strings.HasPrefix(line, "go run .") {
					line = "go build -o program ."
				}
				v.run(line)
			}
			mods := v.run("go version -m program")
			if !strings.Contains(mods, rootPath+"\t"+next) {
				t.Errorf("the program is not built of the published module: %s", mods)
			}
			if strings.Contains(mods, rootPath+"/store/") {
				t.Errorf("the program has lock stores that it does not use: %s", mods)
			}
		})
	}

	t.Run("the lock store of a URL", func(t *testing.T) {
		v := visitor{t, t.TempDir(), env}
		code := "package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\n\t\"" + modulePath("store/anystore") + "\"\n)\n\n" +
			"func main() {\n\tstore, err := anystore.Open(context.Background(), \"memory://\")\n\tfmt.Println(store, err)\n}\n"
		if err := os.WriteFile(filepath.Join(v.dir, "main.go"), []byte(code), 0o644); err != nil {
			t.Fatal(err)
		}
		v.run("go mod init example.com/locks")
		v.run("go get " + modulePath("store/anystore") + "@" + next)
		v.run("go build -o program .")
		if said := v.run("./program"); said != "memory:// (this process only) <nil>\n" {
			t.Errorf("the program says %q", said)
		}
		mods := v.run("go version -m program")
		for _, folder := range published {
			if strings.HasPrefix(folder, "store/") && !strings.Contains(mods, modulePath(folder)+"\t"+next) {
				t.Errorf("the program is not built of %s: %s", folder, mods)
			}
		}
	})

	t.Run("go install", func(t *testing.T) {
		v := visitor{t, t.TempDir(), env}
		v.run(beginning(t, readme, "go install "+modulePath("cmd/pathlock"))[0])
		if version := v.run(`"$GOBIN/pathlock" --version`); !strings.Contains(version, next) {
			t.Errorf("the command says that it is %s", version)
		}
	})

	t.Run("go run", func(t *testing.T) {
		v := visitor{t, t.TempDir(), env}
		line := beginning(t, readme, "go run "+modulePath("sample-app"))[0]
		cmd := v.command("exec " + line)
		cmd.Env = append(slices.Clone(env), "PATHLOCK_ADDR=127.0.0.1:0")
		// A terminal sends its signal to the go command and to the program.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := newTranscript(stdout)
		t.Cleanup(func() {
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
				t.Error(err)
			}
			<-said.ended
			// The go command calls an interrupted program a failed one, however it ended.
			if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
				t.Error(err)
			}
			if !strings.Contains(said.text.String(), "every lock is released") {
				t.Errorf("the sample app did not end well: %s", &said.text)
			}
		})
		select {
		case url := <-said.url:
			answers(t, url)
		case <-said.ended:
			t.Errorf("the sample app says nowhere where it serves: %s", &said.text)
		}
	})

	// As somebody does who packages a program from its tag.
	t.Run("the requirements and checksums of each program are complete", func(t *testing.T) {
		for _, folder := range published {
			visitor{t, filepath.Join(string(r), folder), env}.run("go list -deps .")
		}
	})
}

// transcript is the output of a server until its end.
type transcript struct {
	url   chan string   // has the first URL in it
	ended chan struct{} // closed when the text is complete
	text  strings.Builder
}

var url = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

func newTranscript(output io.Reader) *transcript {
	said := &transcript{url: make(chan string, 1), ended: make(chan struct{})}
	go func() {
		defer close(said.ended)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			said.text.WriteString(lines.Text() + "\n")
			if found := url.FindString(lines.Text()); found != "" {
				select {
				case said.url <- found:
				default:
				}
			}
		}
	}()
	return said
}

// answers expects a server to answer with 200.
func answers(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v: %s", url, response.Status, err, body)
	}
}
