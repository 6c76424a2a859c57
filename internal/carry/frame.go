package carry

import "runtime"

// frame is the name of [Run], as a call stack has it.
const frame = "github.com/pathlock-go/pathlock/internal/carry.Run"

// Run calls f, which is the handler of a request that holds locks. [Inside] finds it on the stack.
//
//go:noinline
func Run(f func()) { f() }

// Inside reports whether the calling goroutine is that of a handler which [Run] called. It costs
// some microseconds.
func Inside() bool {
	var callers [64]uintptr
	for skip := 2; ; skip += len(callers) {
		n := runtime.Callers(skip, callers[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(callers[:n])
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == frame {
				return true
			}
		}
		if n < len(callers) {
			return false
		}
	}
}
