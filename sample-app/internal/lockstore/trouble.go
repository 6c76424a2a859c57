package lockstore

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// refusals are what a Redis server says that answers and yet cannot serve, by how its messages
// begin.
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

// Trouble says in a few words why a lock store does not serve, for people who may not be shown
// addresses: "the lock store …".
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
