package daemon

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// tick is the unit of a process's times in /proc: USER_HZ is 100 on every architecture that Go runs
// on.
const tick = time.Second / 100

// CPU returns the processor time that the server has used since it started, in user and system
// mode. It needs Linux's /proc.
func (d *Daemon) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("the processor time of %s: %w", d.name, err)
	}
	used, err := parseStat(stat)
	if err != nil {
		return 0, fmt.Errorf("the processor time of %s: %w", d.name, err)
	}
	return used, nil
}

// parseStat reads the fields 14 and 15, utime and stime, of proc_pid_stat(5). Field 2 is the
// program's name in parentheses, which may have any characters.
func parseStat(stat []byte) (time.Duration, error) {
	const first, utime, stime = 3, 14, 15
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) <= stime-first {
		return 0, fmt.Errorf("%q is not what proc_pid_stat(5) says", stat)
	}
	var ticks int64
	for _, field := range []int{utime, stime} {
		n, err := strconv.ParseInt(string(fields[field-first]), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
