// Command columns finds comments that are wider than 100 columns, and wraps them with -fix.
//
// It looks only at prose: comments on lines of their own, in Go, Lua and SQL. Code, lists, diagrams
// and tables in comments keep their lines, and so do directives.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	limit    = 100
	tabWidth = 4
)

// markers begin comments, by the file's extension.
var markers = map[string]string{".go": "//", ".lua": "--", ".sql": "--"}

func main() {
	fix := flag.Bool("fix", false, "wrap comments that are too wide")
	flag.Parse()
	wide := 0
	for _, name := range flag.Args() {
		n, err := check(name, *fix)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		wide += n
	}
	if wide > 0 && !*fix {
		os.Exit(1)
	}
}

// check reports the comments of a file that are too wide, and returns their number.
func check(name string, fix bool) (int, error) {
	marker, ok := markers[filepath.Ext(name)]
	if !ok {
		return 0, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	lines := strings.Split(string(text), "\n")
	var out []string
	found, output := 0, false
	for i := 0; i < len(lines); {
		p := paragraphAt(lines[i:], marker)
		comment := strings.TrimLeft(lines[i], "\t ")
		output = strings.HasPrefix(comment, marker) && (output || outputs.MatchString(comment))
		if output {
			p = paragraph{lines: lines[i : i+1]}
		}
		if !p.tooWide() {
			out = append(out, p.lines...)
			i += len(p.lines)
			continue
		}
		found++
		if !fix {
			fmt.Printf("%s:%d: a comment is wider than %d columns\n", name, i+1, limit)
		}
		out = append(out, p.wrapped()...)
		i += len(p.lines)
	}
	if fix && found > 0 {
		err = os.WriteFile(name, []byte(strings.Join(out, "\n")), 0o644)
	}
	return found, err
}

// paragraph is a paragraph of prose in a comment, or one line of anything else.
type paragraph struct {
	lines  []string
	prefix string // indentation and marker of each line; empty if this is not prose
}

// listed matches text that keeps its lines: lists, headings, tables and headers of scripts.
var listed = regexp.MustCompile(`^([-*#|+]|\d+[.)] |KEYS|ARGV|Reply)`)

// outputs matches the first line of an example's output, which goes on to the end of the comment.
var outputs = regexp.MustCompile(`(?i)^// (unordered )?output:`)

// drawn matches lines with columns of their own, and diagrams.
var drawn = regexp.MustCompile(`^ |\S  |[─│►◄▼▲┌└├]`)

// paragraphAt returns the paragraph that lines begin with.
func paragraphAt(lines []string, marker string) paragraph {
	one := paragraph{lines: lines[:1]}
	prefix, ok := prose(lines[0], marker)
	if !ok {
		return one
	}
	n := 1
	for ; n < len(lines); n++ {
		next, ok := prose(lines[n], marker)
		if !ok {
			// Indented text, or a list, belongs to the paragraph above it, and neither is wrapped.
			if strings.HasPrefix(lines[n], prefix+" ") || strings.HasPrefix(lines[n], strings.TrimRight(prefix, " ")+"\t") ||
				listed.MatchString(strings.TrimPrefix(lines[n], prefix)) && strings.HasPrefix(lines[n], prefix) {
				return one
			}
			break
		}
		if next != prefix {
			break
		}
	}
	return paragraph{lines: lines[:n], prefix: prefix}
}

// prose returns the indentation and the marker of a line of a comment, if its text is prose.
func prose(line, marker string) (prefix string, ok bool) {
	rest := strings.TrimLeft(line, "\t ")
	text, ok := strings.CutPrefix(rest, marker+" ")
	if !ok || text == "" || strings.HasPrefix(text, "\t") || listed.MatchString(text) || drawn.MatchString(text) {
		return "", false
	}
	return line[:len(line)-len(text)], true
}

func (p paragraph) tooWide() bool {
	if p.prefix == "" {
		return false
	}
	for _, line := range p.lines {
		if width(line) > limit && strings.Contains(strings.TrimPrefix(line, p.prefix), " ") {
			return true
		}
	}
	return false
}

// wrapped returns the paragraph's words in lines of the allowed width.
func (p paragraph) wrapped() []string {
	var out []string
	line := ""
	for _, l := range p.lines {
		for _, word := range strings.Fields(strings.TrimPrefix(l, p.prefix)) {
			switch {
			case line == "":
				line = p.prefix + word
			case width(line)+1+width(word) > limit:
				out = append(out, line)
				line = p.prefix + word
			default:
				line += " " + word
			}
		}
	}
	return append(out, line)
}

// width counts columns, with tabs of four.
func width(s string) int {
	return utf8.RuneCountInString(s) + (tabWidth-1)*strings.Count(s, "\t")
}
