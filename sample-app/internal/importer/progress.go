package importer

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far an import is, as a bar on a terminal and as occasional lines elsewhere.
type progress interface {
	add(n int)
	finish()
}

// lineEvery is the time between two lines.
const lineEvery = 2 * time.Second

// newProgress returns a progress towards total.
func newProgress(out io.Writer, total int) progress {
	if !isTerminal(out) {
		return &lines{out: out, total: total, next: time.Now().Add(lineEvery)}
	}
	return bar{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription("importing"),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("rows"),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionFullWidth(),
		progressbar.OptionOnCompletion(func() { _, _ = fmt.Fprintln(out) }),
	)}
}

// isTerminal reports whether out can show a bar.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

type bar struct{ *progressbar.ProgressBar }

// An import goes on even if the bar cannot be drawn.
func (b bar) add(n int) { _ = b.Add(n) }
func (b bar) finish()   { _ = b.Exit() }

type lines struct {
	out         io.Writer
	done, total int
	next        time.Time
}

func (l *lines) add(n int) {
	l.done += n
	if now := time.Now(); now.After(l.next) {
		l.next = now.Add(lineEvery)
		l.finish()
	}
}

func (l *lines) finish() {
	_, _ = fmt.Fprintf(l.out, "imported %d of %d\n", l.done, l.total)
}
