package lockstore

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// refusals are the meanings of a Redis server's errors, by their beginnings.
var refusals = []struct{ begins, means string }{
	{"WRONGPASS", "refuses the user or the password"},
	{"NOAUTH", "refuses the user or the password"},
	{"ERR AUTH", "refuses the user or the password"},
	{"ERR invalid password", "refuses the user or the password"},
	{"NOPERM", "does not let the user do what locks need"},
	{"ERR DB index is out of range", "has no database of that number"},
	{"ERR invalid DB index", "has no database of that number"},
	{"ERR SELECT", "has no database of that number"},
	{"LOADING", "is still loading its data"},
	{"READONLY", "is a replica, which takes no writes"},
	{"MISCONF", "cannot save its data, and takes no writes"},
	{"OOM", "is out of memory, and takes no writes"},
	{"CLUSTERDOWN", "is a cluster that is not complete"},
	{"ERR max number of clients", "has too many clients"},
}

// Trouble says in a few words why a lock store does not serve. Its text continues "the lock store
// …", and has no addresses, so that clients may see it.
func Trouble(err error) string {
	refusal, ok := errors.AsType[redis.Error](err)
	if !ok {
		return "does not answer"
	}
	text := refusal.Error()
	for _, r := range refusals {
		if strings.Contains(text, r.begins) {
			return r.means
		}
	}
	return "refuses what it is asked for; the log has more"
}
