package carry

import (
	"hash/fnv"
	"runtime"
	"strings"
)

// A statement without a context shares nothing with its handler but the stack of the goroutine. So
// the handler of a request that holds locks is called through functions whose names spell the
// owner: four hexadecimal digits of its hash. This costs some nanoseconds. [Inside] reads them when
// something has gone wrong.

// digits is the number of digits.
const digits = 4

// prefix begins the names of this package's functions in a call stack.
const prefix = "github.com/pathlock-go/pathlock/internal/carry."

// names has the name of each digit.
const names = "0123456789abcdef"

// hash returns what the digits of an owner spell.
func hash(owner string) uint16 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner)) // it never fails
	sum := h.Sum32()
	return uint16(sum ^ sum>>16)
}

// Run calls f, the handler of a request whose locks owner holds.
//
//go:noinline
func Run(owner string, f func()) { spell(hash(owner), digits, f) }

// spell calls f through the functions of the last digits.
func spell(hash uint16, left int, f func()) {
	if left == 0 {
		f()
		return
	}
	rest := hash >> 4
	switch left--; hash & 15 {
	case 0x0:
		digit0(rest, left, f)
	case 0x1:
		digit1(rest, left, f)
	case 0x2:
		digit2(rest, left, f)
	case 0x3:
		digit3(rest, left, f)
	case 0x4:
		digit4(rest, left, f)
	case 0x5:
		digit5(rest, left, f)
	case 0x6:
		digit6(rest, left, f)
	case 0x7:
		digit7(rest, left, f)
	case 0x8:
		digit8(rest, left, f)
	case 0x9:
		digit9(rest, left, f)
	case 0xa:
		digita(rest, left, f)
	case 0xb:
		digitb(rest, left, f)
	case 0xc:
		digitc(rest, left, f)
	case 0xd:
		digitd(rest, left, f)
	case 0xe:
		digite(rest, left, f)
	case 0xf:
		digitf(rest, left, f)
	}
}

//go:noinline
func digit0(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit1(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit2(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit3(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit4(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit5(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit6(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit7(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit8(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digit9(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digita(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digitb(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digitc(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digitd(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digite(rest uint16, left int, f func()) { spell(rest, left, f) }

//go:noinline
func digitf(rest uint16, left int, f func()) { spell(rest, left, f) }

// Inside reports whether the calling goroutine runs the handler of a request whose locks owner
// holds. It costs some microseconds. It mistakes one owner in some 65,000 for another.
func Inside(owner string) bool {
	want := hash(owner)
	return look(func(found uint16) bool { return found == want })
}

// InsideAny reports whether the calling goroutine runs the handler of a request that holds locks.
func InsideAny() bool { return look(func(uint16) bool { return true }) }

// look reports whether matches returns true for any hash on the stack.
func look(matches func(uint16) bool) bool {
	var found uint16
	var callers [64]uintptr
	for skip := 3; ; skip += len(callers) {
		n := runtime.Callers(skip, callers[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(callers[:n])
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			name, ours := strings.CutPrefix(f.Function, prefix)
			if !ours {
				continue
			}
			// The first digit was called last.
			if digit, ok := strings.CutPrefix(name, "digit"); ok {
				found = found<<4 | uint16(strings.Index(names, digit))
			}
			if name != "Run" {
				continue
			}
			if matches(found) {
				return true
			}
			found = 0
		}
		if n < len(callers) {
			return false
		}
	}
}
