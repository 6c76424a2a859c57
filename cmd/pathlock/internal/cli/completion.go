package cli

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionFiles are what a shell loads. Each asks the program itself for the candidates.
//
//go:embed completion
var completionFiles embed.FS

type completionCommand struct {
	Shell string `arg:"" help:"Shell: ${enum}." enum:"bash,zsh,fish"`
}

// Help is the detailed help of the command.
func (*completionCommand) Help() string {
	return `It writes what the shell has to load:

    source <(pathlock completion bash)        in ~/.bashrc
    source <(pathlock completion zsh)         in ~/.zshrc, behind compinit
    pathlock completion fish | source         in ~/.config/fish/config.fish`
}

// Run implements the command.
func (c *completionCommand) Run(streams streams, code *int) error {
	text, err := completionFiles.ReadFile("completion/pathlock." + c.Shell)
	if err == nil {
		_, err = streams.out.Write(text)
	}
	if err != nil {
		*code = exitFailure
		return fmt.Errorf("write the completion: %w", err)
	}
	return nil
}

// completing is the word with which a shell asks for candidates. The words of the command line
// follow, up to the one under the cursor, which may be empty.
const completing = "__complete"

// filesCandidate asks the shell to complete names of files.
const filesCandidate = ":files"

// complete writes the candidates for the last word, one on a line: the word, and
// behind a tab what it is, if there is more to say.
func complete(words []string, out io.Writer) int {
	parser, err := newParser(&commands{})
	if err != nil {
		return exitFailure
	}
	if len(words) == 0 {
		words = []string{""}
	}
	current := words[len(words)-1]
	for _, c := range candidates(parser.Model.Node, words[:len(words)-1], current) {
		if c.word != filesCandidate && !strings.HasPrefix(c.word, current) {
			continue
		}
		text := printable(c.word)
		if c.about != "" {
			text += "\t" + printable(c.about)
		}
		if _, err := fmt.Fprintln(out, text); err != nil {
			return exitFailure
		}
	}
	return exitClean
}

// candidate is a word that may follow.
type candidate struct{ word, about string }

// candidates returns what may follow the words of a command line.
func candidates(node *kong.Node, words []string, current string) []candidate {
	var wants *kong.Flag // a flag before the last word that has no value yet
	given := 0           // arguments of the command so far
	for _, word := range words {
		switch {
		case wants != nil:
			wants = nil
		case strings.HasPrefix(word, "-"):
			name, _, hasValue := strings.Cut(word, "=")
			if flag := flagOf(node, name); flag != nil && !flag.IsBool() && !hasValue {
				wants = flag
			}
		default:
			if child := childOf(node, word); child != nil {
				node, given = child, 0
			} else {
				given++
			}
		}
	}
	switch {
	case wants != nil:
		return values(wants.Value)
	case strings.HasPrefix(current, "-"):
		return flagsOf(node)
	}
	var all []candidate
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, candidate{child.Name, child.Help})
		}
	}
	if given < len(node.Positional) {
		all = append(all, values(node.Positional[given])...)
	}
	return all
}

// values returns what a value may be, as far as that is known.
func values(v *kong.Value) []candidate {
	if v.Tag.Type == "path" {
		return []candidate{{filesCandidate, ""}}
	}
	var all []candidate
	for _, word := range v.EnumSlice() {
		all = append(all, candidate{word, ""})
	}
	return all
}

// flagsOf returns the flags of a command.
func flagsOf(node *kong.Node) []candidate {
	var all []candidate
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			all = append(all, candidate{"--" + flag.Name, flag.Help})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return all
}

func flagOf(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) || slices.Contains(flag.Aliases, strings.TrimPrefix(word, "--")) {
				return flag
			}
		}
	}
	return nil
}

func childOf(node *kong.Node, word string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == word {
			return child
		}
	}
	return nil
}
