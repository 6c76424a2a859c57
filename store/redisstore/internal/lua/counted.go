package lua

import "sync/atomic"

// Counted is an argument of a command that knows how often it was written to the server. The Redis
// client sends a command again when it lost the reply. The server may have carried out the first
// one, and a release that finds nothing the second time is then no error.
type Counted struct {
	Value  string
	writes atomic.Int32
}

// MarshalBinary implements [encoding.BinaryMarshaler]. The client calls it whenever it writes the
// command.
func (c *Counted) MarshalBinary() ([]byte, error) {
	c.writes.Add(1)
	return []byte(c.Value), nil
}

// Again reports whether the command was sent more than once.
func (c *Counted) Again() bool { return c.writes.Load() > 1 }

// refused notes that the last one written was not carried out.
func (c *Counted) refused() { c.writes.Add(-1) }

// Writes returns how often the command was written and may have been carried out.
func (c *Counted) Writes() int32 { return c.writes.Load() }
