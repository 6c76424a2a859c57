package cli

import (
	"reflect"
	"strings"
)

// Parse reads a command line and runs nothing.
func Parse(args ...string) error {
	parser, err := newParser(new(commands))
	if err == nil {
		_, err = parser.Parse(args)
	}
	return err
}

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
	for _, line := range []any{treeLine{}, holdLine{}, originLine{}, blockerLine{}, claimsLine{}, inTheWayLine{}, releasedLine{}, findingLine{}, summaryLine{}} {
		add(reflect.TypeOf(line))
	}
	return names
}
