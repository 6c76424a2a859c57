package zk

import (
	"errors"
	"fmt"
)

// Multi carries out several requests in one atomic step, or none of them.
type Multi struct {
	Answer
	// Ops are Create, Set and Delete. After Do, each has its own answer.
	Ops []Op
	// Only, where not 0, is the only session that the request may be sent in.
	Only int64
}

func (*Multi) code() int32      { return opMulti }
func (*Multi) repeatable() bool { return false }

func (m *Multi) encode(e *encoder) {
	for _, op := range m.Ops {
		multiHeader(e, op.code(), false)
		op.encode(e)
	}
	multiHeader(e, -1, true)
}

func multiHeader(e *encoder, code int32, done bool) {
	e.int32(code)
	e.bool(done)
	e.int32(-1)
}

// decode reads one answer for each of Ops. If one of them failed, its error is that of the Multi.
func (m *Multi) decode(d *decoder) {
	for i := 0; ; i++ {
		code := d.int32()
		done := d.bool()
		d.int32()
		if done || d.err != nil {
			return
		}
		if i >= len(m.Ops) {
			d.err = errMalformed
			return
		}
		m.decodeOne(d, code, m.Ops[i])
	}
}

func (m *Multi) decodeOne(d *decoder, code int32, op Op) {
	switch code {
	case opError:
		if c := Code(d.int32()); c != 0 {
			op.answer().Err = c
			if m.Err == nil {
				m.Err = c
			}
		}
	case opCreate, opSetData, opDelete:
		op.decode(d)
	case opCreate2:
		op.decode(d)
		d.stat()
	default:
		d.err = fmt.Errorf("%w: a part of kind %d", errMalformed, code)
	}
}

// Failed returns the part that the server has refused, nil if there is none.
func (m *Multi) Failed() Op {
	for _, op := range m.Ops {
		if err := op.answer().Err; err != nil && !errors.Is(err, ErrNotAttempted) {
			return op
		}
	}
	return nil
}
