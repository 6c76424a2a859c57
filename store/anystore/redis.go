package anystore

import (
	"errors"

	"github.com/redis/go-redis/v9"
)

// redisRefusals are the beginnings of a Redis server's errors. An error may be quoted in another.
var redisRefusals = []refusal{
	{"WRONGPASS", "refuses the user or the password"},
	{"unauthenticated", "refuses the user or the password"}, // before its size, what is longer than a login
	{"NOAUTH", "refuses the user or the password"},
	{"ERR AUTH", "refuses the user or the password"},
	{"ERR invalid password", "refuses the user or the password"},
	{"NOPERM", "does not let the user do what locks need"},
	{"ERR DB index is out of range", "has no database of that number"},
	{"ERR invalid DB index", "has no database of that number"},
	{"ERR SELECT", "has no database of that number"},
	{"LOADING", "is still loading its data"},
	{"READONLY", "is a replica, which takes no writes"},
	{"NOREPLICAS", "has too few replicas in time, and takes no writes"},
	{"MISCONF", "cannot save its data, and takes no writes"},
	{"OOM", "is out of memory, and takes no writes"},
	{"CLUSTERDOWN", "is a cluster that is not complete"},
	{"ERR max number of clients", "has too many clients"},
}

// redisTrouble says what a Redis server's error means.
func redisTrouble(err error) (means string, ok bool) {
	refused, ok := errors.AsType[redis.Error](err)
	if !ok {
		return "", false
	}
	return meaning(refused.Error(), redisRefusals), true
}
