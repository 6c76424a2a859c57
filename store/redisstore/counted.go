package redisstore

import "sync/atomic"

// counted is an argument of a command that knows how often it was written to the server. The Redis
// client sends a command again when it lost the reply; the second time, the first may have
// been carried out already, and a release that finds nothing is then no error.
type counted struct {
	value  string
	writes atomic.Int32
}

// MarshalBinary implements [encoding.BinaryMarshaler]. The client calls it whenever it writes the
// command.
func (c *counted) MarshalBinary() ([]byte, error) {
	c.writes.Add(1)
	return []byte(c.value), nil
}

// again reports whether the command was sent more than once.
func (c *counted) again() bool { return c.writes.Load() > 1 }

// refused notes that the last one written was not carried out.
func (c *counted) refused() { c.writes.Add(-1) }

// sent reports whether the command may have been carried out.
func (c *counted) sent() bool { return c.writes.Load() > 0 }
