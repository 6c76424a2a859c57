package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// What may follow the words of a command line.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		words []string
		has   []string
		not   []string
	}{
		{[]string{""}, []string{"ls", "watch", "explain", "release", "doctor", "fsck", "completion"}, []string{"__complete", "--json"}},
		{[]string{"do"}, []string{"doctor"}, []string{"ls"}},
		{[]string{"doctor", "--s"}, []string{"--strict"}, []string{"--json"}},
		{[]string{"doctor", "-"}, []string{"--strict", "--json", "--locks", "--help"}, nil},
		{[]string{"explain", ""}, []string{"insert", "rename", "gate"}, []string{"ls"}},
		{[]string{"explain", "--new-name", "x", "re"}, []string{"rename", "read"}, []string{"release"}},
		{[]string{"completion", ""}, []string{"bash", "zsh", "fish"}, nil},
		{[]string{"release", "--log", ""}, []string{":files"}, nil},
		{[]string{"release", "--reason", ""}, nil, []string{":files", "ls"}},
		{[]string{"ls", "--", ""}, nil, []string{"ls"}},
	} {
		_, out, errs := run(t, append([]string{"__complete"}, c.words...)...)
		var words []string
		for line := range strings.Lines(out) {
			word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			words = append(words, word)
		}
		for _, word := range c.has {
			if !slices.Contains(words, word) {
				t.Errorf("%q: %s is missing among %q (%s)", c.words, word, words, errs)
			}
		}
		for _, word := range c.not {
			if slices.Contains(words, word) {
				t.Errorf("%q: %s is among %q", c.words, word, words)
			}
		}
	}
}

// shellsFolder returns a folder with a command that is called pathlock, and a file.
func shellsFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n" + childVariable + "=1 exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(folder, "pathlock"), []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "some-log.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// inFolder returns a shell that finds the command.
func inFolder(t *testing.T, folder, shell string, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		testserver.Missing(t, err.Error())
	}
	cmd := exec.CommandContext(t.Context(), shell, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "TERM=dumb", "PATHLOCK_LOCKS=")
	return cmd
}

// The completion of zsh belongs to its line editor, so zsh runs on a terminal.
func TestZsh(t *testing.T) {
	folder := shellsFolder(t)
	zsh := startOn(t, 120, 40, inFolder(t, folder, "zsh", "-f", "-i"))
	zsh.types("PROMPT='> '; autoload -Uz compinit; compinit -u -D; source <(pathlock completion zsh); print -r rea''dy\n")
	zsh.await("ready")
	for _, c := range []struct{ typed, shown string }{
		{"pathlock doc", `pathlock doctor `},
		{"pathlock completion f", `pathlock completion fish `},
		{"pathlock doctor --str", `pathlock doctor --strict `},
		{"pathlock release --log some", `pathlock release --log some-log\.jsonl `},
		{"pathlock explain ", `insert[\s\S]*rename[\s\S]*gate`},
	} {
		zsh.types(c.typed + "\t")
		zsh.await(c.shown)
		zsh.types("\x15") // Ctrl-U empties the line
	}
}

// The real shells complete with what the program writes for them.
func TestShells(t *testing.T) {
	folder := shellsFolder(t)
	for shell, ask := range map[string]string{
		// What readline does with the function that complete -F has named.
		"bash": `source <(pathlock completion bash)
			ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _pathlock pathlock "${!#}"; printf '%s\n' "${COMPREPLY[@]}"; echo --; }
			complete -p pathlock | grep -q -- '-F _pathlock' || echo not registered
			ask pathlock doc; ask pathlock completion ''; ask pathlock doctor --str; ask pathlock release --log some`,
		"fish": `pathlock completion fish | source
			for line in 'pathlock doc' 'pathlock completion ' 'pathlock doctor --str' 'pathlock release --log some'
				complete -C "$line"; echo --
			end`,
	} {
		t.Run(shell, func(t *testing.T) {
			out, err := inFolder(t, folder, shell, "-c", ask).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, word := range []string{"doctor", "fish", "--strict", "some-log.jsonl"} {
				if !strings.Contains(string(out), word) {
					t.Errorf("%s is not completed: %s", word, out)
				}
			}
			if strings.Contains(string(out), "not registered") || strings.Contains(string(out), ":files") {
				t.Errorf("it shows %s", out)
			}
		})
	}
}
