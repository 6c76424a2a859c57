// Package contender puts everything that is compared behind one small interface, and lists it:
// [Redis] has what keeps its locks in Redis, [Local] what keeps them in the process. Sections
// choose from the lists by what the contenders can do, so that a new one, such as the store with
// another client, is one more entry.
//
// All go-redis clients have the same options, go-redis's own defaults but for
// ContextTimeoutEnabled, which the documentation of package redisstore asks for. Every contender
// has a client of its own.
package contender
