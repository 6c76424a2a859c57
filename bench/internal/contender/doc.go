// Package contender puts all ways of locking behind one small interface, and lists them. [Redis]
// lists those that keep their locks in Redis, and [Local] those that keep them in the process.
// Sections choose from the lists by the abilities of the contenders. So a new contender, such as
// the store with another client, is one more entry.
//
// All go-redis clients have go-redis's default options, except for ContextTimeoutEnabled, which the
// documentation of package redisstore asks for. Every contender has a client of its own.
package contender
