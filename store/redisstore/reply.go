package redisstore

import (
	"fmt"
	"strconv"
	"time"
)

// reply is what a script answers: an array whose first element says what the rest means.
type reply struct {
	status string
	rest   []string
}

// parseReply reads an array of strings and numbers. A number alone is what a script's short way
// answers: it stands for {short, '0', number}.
func parseReply(answer any, short string) (reply, error) {
	if n, ok := answer.(int64); ok && short != "" {
		return reply{short, []string{"0", strconv.FormatInt(n, 10)}}, nil
	}
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

// more reports whether the script, which says so in its second element, has left something for
// another to do.
func (r reply) more() bool { return r.text(0) == "1" }

// instant reads a time in milliseconds since 1970; 0 is the zero Time.
func instant(ms string) time.Time {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n)
}
