package lua

import (
	"fmt"
	"strconv"
)

// Reply is what a script answers: an array whose first element says what the rest means.
type Reply struct {
	Status string
	Rest   []string
}

// ParseReply reads an array of strings and numbers.
func ParseReply(answer any) (Reply, error) {
	items, ok := answer.([]any)
	if !ok || len(items) == 0 {
		return Reply{}, fmt.Errorf("unexpected reply %v", answer)
	}
	all := make([]string, len(items))
	for i, item := range items {
		switch v := item.(type) {
		case string:
			all[i] = v
		case int64:
			all[i] = strconv.FormatInt(v, 10)
		default:
			return Reply{}, fmt.Errorf("unexpected %T in a reply", item)
		}
	}
	return Reply{all[0], all[1:]}, nil
}

// Text returns the i-th element after the status, or "" if there are not so many.
func (r Reply) Text(i int) string {
	if i >= len(r.Rest) {
		return ""
	}
	return r.Rest[i]
}

// Number returns the i-th element after the status as a number, 0 if it is none.
func (r Reply) Number(i int) uint64 {
	n, _ := strconv.ParseUint(r.Text(i), 10, 64)
	return n
}
