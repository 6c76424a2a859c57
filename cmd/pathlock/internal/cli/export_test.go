package cli

import "io"

// Parse reads a command line and runs nothing.
func Parse(args ...string) error {
	parser, err := newParser(new(commands), nil)
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

// Outage writes what watch says of looks that fail with an error, or succeed.
func Outage(errs io.Writer, looks ...error) {
	c := newChanges(streams{out: io.Discard, errs: errs}, false)
	for _, err := range looks {
		if err != nil {
			c.missed(err)
		} else {
			_ = c.saw(nil)
		}
	}
}
