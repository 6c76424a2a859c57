package command

import (
	"io"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// Parse reads a command line and runs nothing.
func Parse(args ...string) error {
	_, err := newParser(new(commands), nil).Parse(args)
	return err
}

// OpenDB and Reach open a database, and connect to it.
var (
	OpenDB = openDB
	Reach  = reach
)

// NameOf writes the name of a tree.
var NameOf = nameOf

// ParseTree reads the name of a tree.
func ParseTree(name string) (pathlock.Tree, error) {
	var t namedTree
	err := t.UnmarshalText([]byte(name))
	return t.Tree, err
}

// Texts returns what ls, explain and release say of a snapshot.
func Texts(s pathlock.Snapshot) string {
	var all []string
	all = append(append(append(all, snapshotText(s)...), treesText([]pathlock.Snapshot{s})...), holdTexts(s)...)
	return strings.Join(append(all, inTheWayText(s.InTheWay("", true, nil), s.Now)...), "\n")
}

// Outage writes what watch says of looks that fail with an error, or succeed.
func Outage(errs io.Writer, looks ...error) {
	c := newChanges(newOutput(io.Discard, errs), false)
	for _, err := range looks {
		if err != nil {
			c.missed(err)
		} else {
			c.saw(nil, nil)
		}
	}
}
