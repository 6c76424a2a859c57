package zk

import (
	"encoding/binary"
	"errors"
)

// errMalformed is for an answer that ends too early.
var errMalformed = errors.New("a malformed answer")

// encoder writes values in ZooKeeper's encoding, which is called jute.
type encoder struct{ buf []byte }

func (e *encoder) int32(v int32) { e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(v)) }
func (e *encoder) int64(v int64) { e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(v)) }

func (e *encoder) bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	e.buf = append(e.buf, b)
}

func (e *encoder) bytes(v []byte) { e.int32(int32(len(v))); e.buf = append(e.buf, v...) }
func (e *encoder) text(v string)  { e.int32(int32(len(v))); e.buf = append(e.buf, v...) }

func (e *encoder) acl(acl []ACL) {
	e.int32(int32(len(acl)))
	for _, a := range acl {
		e.int32(a.Perms)
		e.text(a.Scheme)
		e.text(a.ID)
	}
}

// decoder reads values. After the first error it reads zero values.
type decoder struct {
	buf []byte
	err error
}

func (d *decoder) take(n int) []byte {
	if d.err == nil && (n < 0 || n > len(d.buf)) {
		d.err = errMalformed
	}
	if d.err != nil {
		return nil
	}
	taken := d.buf[:n]
	d.buf = d.buf[n:]
	return taken
}

func (d *decoder) int32() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) int64() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) bool() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

// bytes returns a copy: the buffer is used again. The length of an absent value is -1.
func (d *decoder) bytes() []byte {
	n := int(d.int32())
	if n <= 0 {
		return nil
	}
	return append([]byte(nil), d.take(n)...)
}

func (d *decoder) text() string { return string(d.take(max(int(d.int32()), 0))) }

func (d *decoder) texts() []string {
	n := int(d.int32())
	if n < 0 || n > len(d.buf)/4 { // each has at least its length
		if n > 0 {
			d.err = errMalformed
		}
		return nil
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = d.text()
	}
	return texts
}

func (d *decoder) stat() Stat {
	s := Stat{
		Czxid: d.int64(), Mzxid: d.int64(),
		Ctime: d.int64(), Mtime: d.int64(),
		Version: d.int32(),
	}
	d.int32() // the version of the children
	d.int32() // the version of the ACL
	s.EphemeralOwner = d.int64()
	d.int32() // the length of the data
	s.NumChildren = d.int32()
	d.int64() // the last change of the children
	return s
}
