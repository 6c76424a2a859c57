package fsck

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// changeLog writes the changes of a repair as JSON lines: first {"run":table}, then the changes of
// each transaction before it is committed, and {"tx":n,"commit":true} when it has been. A
// transaction without such a line was not committed if another one follows in the same run; of the
// last one of a run that was killed it is not known.
type changeLog struct {
	out io.Writer // nil: no log
}

// start is the first line of a run.
type start struct {
	Run string `json:"run"`
}

// begin notes that a run begins.
func (l changeLog) begin(table string) error { return l.line(start{table}) }

// outcome is the last line of a transaction.
type outcome struct {
	Transaction int  `json:"tx"`
	Commit      bool `json:"commit"`
}

// write writes the changes, and makes sure that they survive the end of this process.
func (l changeLog) write(changes []Change) error {
	for _, c := range changes {
		if err := l.line(c); err != nil {
			return err
		}
	}
	return l.sync()
}

// committed notes that a transaction has been committed.
func (l changeLog) committed(tx int) error {
	if err := l.line(outcome{tx, true}); err != nil {
		return err
	}
	return l.sync()
}

func (l changeLog) line(v any) error {
	if l.out == nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err == nil {
		_, err = l.out.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("fsck: write the log: %w", err)
	}
	return nil
}

// sync makes sure that what has been written survives the end of this machine; a pipe cannot.
func (l changeLog) sync() error {
	file, ok := l.out.(*os.File)
	if !ok {
		return nil
	}
	if info, err := file.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("fsck: write the log: %w", err)
	}
	return nil
}
