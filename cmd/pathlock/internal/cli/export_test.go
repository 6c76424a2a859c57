package cli

import (
	"io"
	"reflect"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// Parse reads a command line and runs nothing.
func Parse(args ...string) error {
	parser, err := newParser(new(commands))
	if err == nil {
		_, err = parser.Parse(args)
	}
	return err
}

// NameOf and ParseTree write and read the names of trees.
var (
	NameOf    = nameOf
	ParseTree = parseTree
)

// Fields returns the names of all fields that the JSON of ls, watch, explain, release and doctor
// has.
func Fields() []string {
	var names []string
	var add func(reflect.Type)
	add = func(t reflect.Type) {
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous {
				add(f.Type)
			} else if name != "" {
				names = append(names, name)
			}
		}
	}
	for _, line := range []any{treeLine{}, holdLine{}, pathlock.Origin{}, blockerLine{}, claimsLine{}, inTheWayLine{}, releasedLine{}, findingLine{}, summaryLine{}} {
		add(reflect.TypeOf(line))
	}
	return names
}

// Watching is what watch writes without a terminal.
type Watching struct{ changes *changes }

// NewWatching returns one that writes failures to errs.
func NewWatching(errs io.Writer) Watching {
	return Watching{newChanges(streams{out: io.Discard, errs: errs}, false)}
}

// Look is a look that fails with an error, or succeeds.
func (w Watching) Look(err error) error {
	if err != nil {
		w.changes.missed(err)
		return nil
	}
	return w.changes.saw([]pathlock.Snapshot{})
}
