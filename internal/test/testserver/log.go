package testserver

import (
	"bufio"
	"io"
	"strings"
	"sync"
)

// Log has the last lines that a server wrote.
type Log struct {
	mu    sync.Mutex
	lines []string
}

// Read reads the log to its end and closes started at the first line with the given text.
func (l *Log) Read(r io.Reader, ready string, started chan<- struct{}) {
	const kept, longest = 12, 1 << 20
	waiting := true
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		if waiting && strings.Contains(lines.Text(), ready) {
			waiting = false
			close(started)
		}
		l.mu.Lock()
		l.lines = append(l.lines, lines.Text())
		l.lines = l.lines[max(0, len(l.lines)-kept):]
		l.mu.Unlock()
	}
}

// String returns the last lines.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
