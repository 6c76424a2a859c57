package contender

import "slices"

// The names of contenders that sections compare with.
const (
	Store       = "pathlock store"
	Locker      = "pathlock locker"
	Replicated  = "pathlock store, WithReplicas(1)"
	Memory      = "memory store"
	MemLocker   = "memory store, locker"
	Redislock   = "redislock"
	ObtainMulti = "redislock.ObtainMulti"
	Redsync     = "redsync"
	Rueidislock = "rueidislock"
	HSetNX      = "HSETNX per level"
	HKeys       = "HKEYS + string.find"
	Ping        = "PING x2"
	Noop        = "no-op EVALSHA x2"
	WebDAV      = "x/net/webdav MemLS"
	RWNodes     = "RWMutex per node, looked up"
	RWFixed     = "RWMutex per node, at hand"
)

// Redis returns the contenders that keep their locks in Redis, this project's store first.
func Redis() []Contender {
	return slices.Concat(pathlockRedis(), []Contender{
		redislockOne(), redislockMulti(), redsyncOne(), rueidislockOne(), hsetnx(), hkeys(), ping(), noop(),
	})
}

// Local returns the contenders that keep their locks in the memory of the process, this project's
// store first.
func Local() []Contender {
	return slices.Concat(pathlockLocal(), []Contender{webdavMemory(), rwNodes(), rwFixed()})
}

// Only returns the contenders with one of the names, in their order in all.
func Only(all []Contender, names ...string) []Contender {
	return Where(all, func(c Contender) bool { return slices.Contains(names, c.Name) })
}

// Where returns the contenders for which keep is true.
func Where(all []Contender, keep func(Contender) bool) []Contender {
	var some []Contender
	for _, c := range all {
		if keep(c) {
			some = append(some, c)
		}
	}
	return some
}
