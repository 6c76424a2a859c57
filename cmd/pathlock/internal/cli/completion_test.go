package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// What may follow the words of a command line.
func TestCandidates(t *testing.T) {
	url, tree, _, _ := held(t, "an edit")
	t.Setenv("PATHLOCK_LOCKS", url)
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
		{[]string{"ls", tree.Namespace()}, []string{tree.String()}, nil},
		{[]string{"explain", "rename", tree.Namespace()}, []string{tree.String()}, nil},
		{[]string{"release", "--yes", ""}, []string{tree.String()}, nil},
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

// unruly are ids of trees that a shell would interpret, or that cannot be seen, with the names by
// which they are completed.
var unruly = []struct{ id, name string }{
	{"$(touch PWNED)", "%24%28touch%20PWNED%29"},
	{"`touch PWNED`", "%60touch%20PWNED%60"},
	{"x;touch PWNED", "x%3Btouch%20PWNED"},
	{"x&touch PWNED&", "x%26touch%20PWNED%26"},
	{"x|touch PWNED", "x%7Ctouch%20PWNED"},
	{"x>PWNED", "x%3EPWNED"},
	{"a 'b' \"c\"", "a%20%27b%27%20%22c%22"},
	{`back\slash`, "back%5Cslash"},
	{"*{a,b}?[c]~#!!^$HOME=", "%2A%7Ba,b%7D%3F%5Bc%5D%7E%23%21%21%5E%24HOME%3D"},
	{"right\u202eleft", "right%E2%80%AEleft"},
	{"no\u3000seen\u3164\u200b", "no%E3%80%80seen%E3%85%A4%E2%80%8B"},
	{"100%41", "100%2541"},
	{"计划-1", "计划-1"},
}

// On the command line, the name of a tree does nothing: a shell that completes it hands the command
// the tree that is held, whatever it is called.
func TestUnrulyTrees(t *testing.T) {
	server := testredis.Start(t, testredis.Redis)
	url := "redis://" + server.Addr + "/0"
	store, err := anystore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	locker := pathlock.New(store)
	for i, u := range unruly {
		tree, err := pathlock.NewTree(fmt.Sprintf("unruly%c", 'a'+i), u.id)
		if err != nil {
			t.Fatal(err)
		}
		lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lock.Release(context.Background()) })
	}
	folder := shellsFolder(t)
	for shell, begin := range map[string][]string{
		"bash": {"--norc", "-i", "source <(pathlock completion bash); echo rea''dy\n"},
		"zsh":  {"-f", "-i", "autoload -Uz compinit; compinit -u -D; source <(pathlock completion zsh); print -r rea''dy\n"},
	} {
		t.Run(shell, func(t *testing.T) {
			cmd := inFolder(t, folder, shell, begin[:2]...)
			cmd.Env = append(cmd.Env, "PATHLOCK_LOCKS="+url, "LC_ALL=C.UTF-8")
			on := startOn(t, 200, 60, cmd)
			on.types(begin[2])
			on.await("ready")
			for i, u := range unruly {
				on.types(fmt.Sprintf("pathlock ls unruly%c\t", 'a'+i))
				name := fmt.Sprintf("unruly%c/%s", 'a'+i, regexp.QuoteMeta(u.name))
				on.await("pathlock ls " + name)
				on.types("\n")
				on.await(name + ": 1 hold, 0 wait")
			}
			on.types("exit\n")
			on.exits()
		})
	}
	t.Run("fish", func(t *testing.T) {
		cmd := inFolder(t, folder, "fish", "-c", `pathlock completion fish | source
			for n in (seq `+fmt.Sprint(len(unruly))+`)
				set -l namespace unruly(string sub -s $n -l 1 abcdefghijklmnopqrstuvwxyz)
				eval pathlock ls (complete -C "pathlock ls $namespace" | string split -f 1 \t)
			end`)
		cmd.Env = append(cmd.Env, "PATHLOCK_LOCKS="+url, "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for i, u := range unruly {
			if want := fmt.Sprintf("unruly%c/%s: 1 hold, 0 wait", 'a'+i, u.name); !strings.Contains(string(out), want) {
				t.Errorf("there is no %q: %s", want, out)
			}
		}
	})
	if _, err := os.Stat(filepath.Join(folder, "PWNED")); err == nil {
		t.Error("a shell has executed the name of a tree")
	}
	// With --namespace, an id is taken as it is, so only a plain one is offered.
	t.Setenv("PATHLOCK_LOCKS", url)
	for i, u := range unruly {
		_, out, _ := run(t, "__complete", "ls", "--namespace", fmt.Sprintf("unruly%c", 'a'+i), "")
		word, _, _ := strings.Cut(out, "\t")
		if want := map[bool]string{true: u.id}[u.id == u.name]; word != want {
			t.Errorf("with --namespace, %q is completed to %q", u.id, word)
		}
	}
}
