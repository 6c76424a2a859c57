package redisstore

import (
	"fmt"
	"strconv"
)

// reply is what a script answers: an array whose first element says what the rest means.
type reply struct {
	status string
	rest   []string
}

// parseReply reads an array of strings and numbers.
func parseReply(answer any) (reply, error) {
	items, ok := answer.([]any)
	if !ok || len(items) == 0 {
		return reply{}, fmt.Errorf("unexpected reply %v", answer)
	}
	all := make([]string, len(items))
	for i, item := range items {
		switch v := item.(type) {
		case string:
			all[i] = v
		case int64:
			all[i] = strconv.FormatInt(v, 10)
		default:
			return reply{}, fmt.Errorf("unexpected %T in a reply", item)
		}
	}
	return reply{all[0], all[1:]}, nil
}

// text returns the i-th element after the status, or "" if there are not so many.
func (r reply) text(i int) string {
	if i >= len(r.rest) {
		return ""
	}
	return r.rest[i]
}

// number returns the i-th element after the status as a number, 0 if it is none.
func (r reply) number(i int) uint64 {
	n, _ := strconv.ParseUint(r.text(i), 10, 64)
	return n
}

// The statuses that begin the replies of the scripts. The header of each script in the folder
// scripts says what follows them.
const (
	statusGranted     = "granted"
	statusQueued      = "queued"
	statusBusy        = "busy"
	statusFull        = "full"
	statusLost        = "lost"
	statusWithdrawn   = "withdrawn"
	statusDeadlock    = "deadlock"
	statusReleased    = "released"
	statusTransferred = "transferred"
	statusTaken       = "taken"
)
