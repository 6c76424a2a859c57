package etcdstore

import "time"

// A member that has vanished without a word is noticed after both of these. Members refuse clients
// that ask more often than every five seconds, by default.
const (
	keepAliveTime    = 6 * time.Second
	keepAliveTimeout = 2 * time.Second
)
