package doctor

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// timeout is a setting of a database that ends what takes longer. Zero is without end.
type timeout struct {
	name string
	unit time.Duration
	// least is the shortest that lets programs work, and most, unless zero, the longest that makes
	// sense.
	least, most time.Duration
	// ends says what happens after it.
	ends string
}

// Bounds of time-outs. A transaction is idle for the database while it waits for a path lock, and
// a statement that moves a large subtree rewrites all of its rows.
const (
	leastIdle      = pathlock.DefaultWait
	leastStatement = time.Second
	leastRowWait   = 100 * time.Millisecond
	mostRowWait    = 10 * time.Minute
)

// What is ended by time-outs that are too short.
const (
	endsIdle      = "a transaction that waits for a path lock is idle for the database, which ends it: programs fail that would have got the lock"
	endsStatement = "a move or a rename of a large subtree is ended, and so is each later attempt"
	endsRowWait   = "who waits for the row locks of a usual transaction gives up: needless errors and retries"
)

var postgresTimeouts = []timeout{
	{"idle_in_transaction_session_timeout", time.Millisecond, leastIdle, 0, endsIdle},
	{"transaction_timeout", time.Millisecond, leastIdle, 0, endsIdle},
	{"statement_timeout", time.Millisecond, leastStatement, 0, endsStatement},
	{"lock_timeout", time.Millisecond, leastRowWait, 0, endsRowWait},
}

var mysqlTimeouts = []timeout{
	{"wait_timeout", time.Second, leastIdle, 0, endsIdle},
	{"idle_transaction_timeout", time.Second, leastIdle, 0, endsIdle},
	{"idle_write_transaction_timeout", time.Second, leastIdle, 0, endsIdle},
	{"max_statement_time", time.Second, leastStatement, 0, endsStatement},
	{"innodb_lock_wait_timeout", time.Second, leastRowWait, mostRowWait, endsRowWait},
}

// mostIdle is how long a transaction may keep its row locks whose program hangs, before that is
// worth a word.
const mostIdle = 10 * time.Minute

// judgeIdleMySQL looks whether the server ends transactions that are idle. MariaDB has a time-out
// for them, and MySQL only the one for all idle connections. It reports whether that is right.
func (e *exam) judgeIdleMySQL(about string, values map[string]string) bool {
	idle, isMariaDB := values["idle_transaction_timeout"]
	wait, _ := strconv.Atoi(values["wait_timeout"])
	lasts := time.Duration(wait) * time.Second
	means := fmt.Sprintf("a transaction whose program hangs keeps its row locks for %v, or until its connection breaks", lasts)
	switch {
	case isMariaDB && idle == "0" && lasts > mostIdle:
		e.found(Advice, about, "time-outs", "idle_transaction_timeout is 0", means,
			"SET GLOBAL idle_transaction_timeout = 60, and the same in my.cnf, or idle_transaction_timeout=60 in the programs' URL")
	case !isMariaDB && lasts > mostIdle:
		e.found(Advice, about, "time-outs", fmt.Sprintf("wait_timeout is %v", lasts), means,
			"SET GLOBAL wait_timeout = 300, and the same in my.cnf, or wait_timeout=300 in the programs' URL; have their pools close idle connections sooner")
	default:
		return true
	}
	return false
}

// judgeTimeouts finds the time-outs that are too short or too long. It reports whether there are
// none.
func (e *exam) judgeTimeouts(about string, values map[string]string, all []timeout) bool {
	right := true
	for _, t := range all {
		n, err := strconv.ParseFloat(values[t.name], 64)
		if err != nil || n <= 0 {
			continue // the server has no such setting, or it ends nothing
		}
		lasts := time.Duration(n * float64(t.unit))
		is := fmt.Sprintf("%s is %v", t.name, lasts)
		switch {
		case lasts < t.least:
			right = false
			e.found(Warning, about, "time-outs", is, t.ends, fmt.Sprintf("set %s to %v or more for the user of the programs", t.name, t.least))
		case t.most > 0 && lasts > t.most:
			right = false
			e.found(Advice, about, "time-outs", is, "who waits for the row locks of a transaction that hangs waits that long", fmt.Sprintf("set %s to what a usual transaction takes, at most %v", t.name, t.most))
		}
	}
	return right
}

// shownTimeouts lists the time-outs that a server has, for people.
func shownTimeouts(values map[string]string, all []timeout) string {
	var shown []string
	for _, t := range all {
		if n, err := strconv.ParseFloat(values[t.name], 64); err == nil && n > 0 {
			shown = append(shown, fmt.Sprintf("%s is %v", t.name, time.Duration(n*float64(t.unit))))
		}
	}
	if len(shown) == 0 {
		return "none is set"
	}
	return strings.Join(shown, ", ")
}
