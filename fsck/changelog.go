package fsck

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// logLine is a line of the log that is no [Change]. The first one is {"run":table}. Each
// transaction writes its changes before the commit, and {"tx":n,"commit":true} after it. If that
// last line is missing and another transaction follows in the same run, there was no commit. For
// the last transaction of a killed run, the log does not tell.
type logLine struct {
	Run         string `json:"run,omitempty"`
	Transaction int    `json:"tx,omitempty"`
	Commit      bool   `json:"commit,omitempty"`
}

// record appends lines to a log, if there is one. It makes sure that the log survives a crash of
// the machine, if it is a regular file.
func record[T any](log io.Writer, lines ...T) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("fsck: write the log: %w", err)
		}
	}()
	if log == nil {
		return nil
	}
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err == nil {
			_, err = log.Write(append(text, '\n'))
		}
		if err != nil {
			return err
		}
	}
	if file, ok := log.(*os.File); ok {
		if info, err := file.Stat(); err != nil || info.Mode().IsRegular() {
			return file.Sync()
		}
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
