package fsck

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
)

// suspect is a row with a problem.
type suspect struct{ tree, key Key }

// lineup has the suspects by the kind of their problem.
type lineup map[Kind]*spool

// add appends the row of a problem. A row without a tree counts as one of the tree that it will
// get.
func (s lineup) add(p Problem) error {
	if s[p.Kind] == nil {
		s[p.Kind] = &spool{}
	}
	one := suspect{p.Tree, p.ID}
	if p.Kind == NoTree && len(p.Others) > 0 {
		one.tree = p.Others[0]
	}
	return s[p.Kind].add(one)
}

// close removes the files.
func (s lineup) close() (err error) {
	for _, spool := range s {
		err = errors.Join(err, spool.close())
	}
	return err
}

// spool keeps suspects in a temporary file, so that the memory of a repair does not grow with the
// damage. It removes the file's name at once, if the system allows that: a killed process then
// leaves nothing behind.
type spool struct {
	file *os.File
	// named is set if the file still has its name.
	named bool
	buf   *bufio.Writer
	enc   *gob.Encoder
	n     int64
}

// entry is a suspect in the file.
type entry struct{ Tree, Key any }

// encodable returns the key as a value of a type that gob knows.
func (k Key) encodable() any {
	if b, ok := k.v.(binaryKey); ok {
		return []byte(b)
	}
	return k.v
}

// decodable is the inverse of encodable.
func decodable(v any) Key {
	if b, ok := v.([]byte); ok {
		return Key{binaryKey(b)}
	}
	return Key{v}
}

// add appends a suspect.
func (s *spool) add(one suspect) error {
	if s.file == nil {
		file, err := os.CreateTemp("", "pathlock-fsck-*")
		if err != nil {
			return fmt.Errorf("fsck: spool: %w", err)
		}
		s.file, s.buf, s.named = file, bufio.NewWriter(file), os.Remove(file.Name()) != nil
		s.enc = gob.NewEncoder(s.buf)
	}
	s.n++
	if err := s.enc.Encode(entry{one.tree.encodable(), one.key.encodable()}); err != nil {
		return fmt.Errorf("fsck: spool: %w", err)
	}
	return nil
}

// each calls f with the suspects in their order, size at a time.
func (s *spool) each(size int, f func([]suspect) error) error {
	if s.file == nil {
		return nil
	}
	if err := s.buf.Flush(); err != nil {
		return fmt.Errorf("fsck: spool: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("fsck: spool: %w", err)
	}
	dec := gob.NewDecoder(bufio.NewReader(s.file))
	for {
		batch := make([]suspect, 0, size)
		for len(batch) < size {
			var e entry
			err := dec.Decode(&e)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("fsck: spool: %w", err)
			}
			batch = append(batch, suspect{decodable(e.Tree), decodable(e.Key)})
		}
		if len(batch) == 0 {
			return nil
		}
		if err := f(batch); err != nil {
			return err
		}
	}
}

// close removes the file.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
