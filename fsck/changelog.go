package fsck

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// changeLog writes the changes of a repair as JSON lines. The first line is {"run":table}. Each
// transaction writes its changes before the commit, and {"tx":n,"commit":true} after it. If that
// last line is missing and another transaction follows in the same run, there was no commit. For
// the last transaction of a killed run, the log does not tell.
type changeLog struct {
	out io.Writer // nil: no log
}

// begin writes the first line of a run.
func (l changeLog) begin(table string) error {
	return l.line(struct {
		Run string `json:"run"`
	}{table})
}

// write writes and syncs the changes.
func (l changeLog) write(changes []Change) error {
	for _, c := range changes {
		if err := l.line(c); err != nil {
			return err
		}
	}
	return l.sync()
}

// committed writes the last line of a transaction.
func (l changeLog) committed(tx int) error {
	if err := l.line(struct {
		Transaction int  `json:"tx"`
		Commit      bool `json:"commit"`
	}{tx, true}); err != nil {
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

// sync makes sure that the log survives a crash of the machine, if it is a regular file.
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

// Change is one value that a repair writes or, in a dry run, would write.
type Change struct {
	// Transaction is the number of the transaction in its run, from 1; 0 in a dry run.
	Transaction int    `json:"tx,omitempty"`
	Table       string `json:"table"`
	Tree        Key    `json:"tree"`
	ID          Key    `json:"id"`
	// Insert is set for the columns of a row that the repair creates: a lost+found.
	Insert bool   `json:"insert,omitempty"`
	Column string `json:"column"`
	// Old and New are the values: a Key, a string or nil. In JSON, each byte of a string that is
	// not UTF-8 is U+FFFD.
	Old any `json:"old"`
	New any `json:"new"`
	// Why is the problem that the change solves.
	Why Kind `json:"why"`
}
