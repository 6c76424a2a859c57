package simredis

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// failure is an error reply.
type failure string

// status is a simple string reply. Other replies are string, int64, nil and []any.
type status string

const wrongType = failure("WRONGTYPE Operation against a key holding the wrong kind of value")

// find returns a key's value, nil if the key does not exist or has expired.
func (s *Server) find(key string) *value {
	v := s.keys[key]
	if v != nil && v.expires != 0 && v.expires <= s.millis {
		delete(s.keys, key)
		return nil
	}
	return v
}

// hash returns a key's hash. It makes one if create is set, and returns nil if there is none.
func (s *Server) hash(key string, create bool) map[string]string {
	v := s.find(key)
	switch {
	case v == nil && create:
		v = &value{hash: make(map[string]string)}
		s.keys[key] = v
	case v == nil:
		return nil
	case v.hash == nil:
		panic(wrongType)
	}
	return v.hash
}

// set returns a key's sorted set, as hash does a hash. Reading one that is not there finds nothing.
func (s *Server) set(key string, create bool) *sortedSet {
	v := s.find(key)
	switch {
	case v == nil:
		v = &value{set: new(sortedSet)}
		if create {
			s.keys[key] = v
		}
	case v.set == nil:
		panic(wrongType)
	}
	return v.set
}

// do carries out a command. A failure is a panic.
func (s *Server) do(args []string) any {
	name := strings.ToUpper(args[0])
	c, known := commands[name]
	if !known {
		panic(failure(fmt.Sprintf("ERR unknown command '%s'", name)))
	}
	if len(args) < c.least {
		panic(failure(fmt.Sprintf("ERR wrong number of arguments for '%s' command", strings.ToLower(name))))
	}
	reply := c.run(s, args[1:])
	if v := s.keys[args[min(1, len(args)-1)]]; v != nil && v.isEmpty() {
		delete(s.keys, args[1])
	}
	return reply
}

type command struct {
	least int // words
	run   func(s *Server, a []string) any
}

// commands are those that the scripts and the store send.
var commands = map[string]command{
	"PING": {1, func(*Server, []string) any { return status("PONG") }},
	"TIME": {1, func(s *Server, _ []string) any {
		return []any{strconv.FormatInt(s.micros/1e6, 10), strconv.FormatInt(s.micros%1e6, 10)}
	}},
	"EXISTS": {2, func(s *Server, a []string) any {
		return count(a, func(key string) bool { return s.find(key) != nil })
	}},
	"DEL": {2, func(s *Server, a []string) any {
		return count(a, func(key string) bool {
			there := s.find(key) != nil
			delete(s.keys, key)
			return there
		})
	}},
	"SCAN": {2, func(s *Server, _ []string) any {
		var names []any
		for _, key := range slices.Sorted(maps.Keys(s.keys)) {
			if s.find(key) != nil {
				names = append(names, key)
			}
		}
		return []any{"0", names}
	}},

	"GET": {2, func(s *Server, a []string) any { return s.text(a[0]) }},
	"SET": {3, (*Server).setText},

	"PTTL": {2, func(s *Server, a []string) any {
		switch v := s.find(a[0]); {
		case v == nil:
			return int64(-2)
		case v.expires == 0:
			return int64(-1)
		default:
			return v.expires - s.millis
		}
	}},
	"PEXPIRE":   {3, func(s *Server, a []string) any { return s.expire(a, s.millis+integer(a[1])) }},
	"PEXPIREAT": {3, func(s *Server, a []string) any { return s.expire(a, integer(a[1])) }},

	"HGET": {3, func(s *Server, a []string) any { return field(s.hash(a[0], false), a[1]) }},
	"HMGET": {3, func(s *Server, a []string) any {
		hash, all := s.hash(a[0], false), make([]any, len(a)-1)
		for i, name := range a[1:] {
			all[i] = field(hash, name)
		}
		return all
	}},
	"HGETALL": {2, func(s *Server, a []string) any {
		hash, all := s.hash(a[0], false), []any{}
		for _, name := range slices.Sorted(maps.Keys(hash)) {
			all = append(all, name, hash[name])
		}
		return all
	}},
	"HEXISTS": {3, func(s *Server, a []string) any {
		hash := s.hash(a[0], false)
		return count(a[1:], func(name string) bool { return field(hash, name) != nil })
	}},
	"HSET": {4, func(s *Server, a []string) any {
		hash := s.hash(a[0], true)
		before := len(hash)
		for pair := range slices.Chunk(a[1:], 2) {
			hash[pair[0]] = pair[1]
		}
		return int64(len(hash) - before)
	}},
	"HDEL": {3, func(s *Server, a []string) any {
		hash := s.hash(a[0], false)
		return count(a[1:], func(name string) bool {
			there := field(hash, name) != nil
			delete(hash, name)
			return there
		})
	}},

	"ZADD": {4, func(s *Server, a []string) (added any) {
		set, n := s.set(a[0], true), int64(0)
		for pair := range slices.Chunk(a[1:], 2) {
			n += set.add(scoreOf(pair[0]), pair[1])
		}
		return n
	}},
	"ZREM": {3, func(s *Server, a []string) any {
		set := s.set(a[0], false)
		return count(a[1:], func(name string) bool { return set.remove(name) > 0 })
	}},
	"ZSCORE": {3, func(s *Server, a []string) any {
		set := s.set(a[0], false)
		if i := set.find(a[1]); i >= 0 {
			return scoreText(set.members[i].score)
		}
		return nil
	}},
	"ZCARD":     {2, func(s *Server, a []string) any { return int64(len(s.set(a[0], false).members)) }},
	"ZCOUNT":    {4, func(s *Server, a []string) any { return int64(len(s.set(a[0], false).byScores(a[1], a[2]))) }},
	"ZLEXCOUNT": {4, func(s *Server, a []string) any { return int64(len(s.set(a[0], false).byLex(a[1], a[2]))) }},
	"ZRANGE": {4, func(s *Server, a []string) any {
		return listed(byRank(s.set(a[0], false).members, a[1], a[2]), len(a) > 3)
	}},
	"ZREVRANGE": {4, func(s *Server, a []string) any {
		members := slices.Clone(s.set(a[0], false).members)
		slices.Reverse(members)
		return listed(byRank(members, a[1], a[2]), len(a) > 3)
	}},
	"ZRANGEBYSCORE": {4, func(s *Server, a []string) any { return listed(s.set(a[0], false).byScores(a[1], a[2]), false) }},
	"ZRANGEBYLEX": {4, func(s *Server, a []string) any {
		members := s.set(a[0], false).byLex(a[1], a[2])
		if len(a) == 6 { // LIMIT from count
			from := min(integer(a[4]), int64(len(members)))
			members = members[from:min(from+integer(a[5]), int64(len(members)))]
		}
		return listed(members, false)
	}},

	"PUBLISH": {3, func(s *Server, a []string) any { return s.publish(a[0], a[1]) }},
}

func count[T any](all []T, is func(T) bool) (n int64) {
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

func field(hash map[string]string, name string) any {
	if text, there := hash[name]; there {
		return text
	}
	return nil
}

func integer(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(failure("ERR value is not an integer or out of range"))
	}
	return n
}

func (s *Server) text(key string) any {
	switch v := s.find(key); {
	case v == nil:
		return nil
	case v.hash != nil || v.set != nil:
		panic(wrongType)
	default:
		return v.text
	}
}

func (s *Server) setText(a []string) any {
	v, reply := &value{text: a[1]}, any(status("OK"))
	for i := 2; i < len(a); i++ {
		switch strings.ToUpper(a[i]) {
		case "PX":
			i++
			v.expires = s.millis + integer(a[i])
		case "PXAT":
			i++
			v.expires = integer(a[i])
		case "NX":
			if s.find(a[0]) != nil {
				return nil
			}
		case "GET":
			reply = s.text(a[0])
		default:
			panic(failure("ERR syntax error"))
		}
	}
	s.keys[a[0]] = v
	return reply
}

func (s *Server) expire(a []string, at int64) any {
	v := s.find(a[0])
	if v == nil {
		return int64(0)
	}
	if len(a) > 2 {
		switch strings.ToUpper(a[2]) {
		case "NX":
			if v.expires != 0 {
				return int64(0)
			}
		case "GT":
			if v.expires == 0 || at <= v.expires {
				return int64(0)
			}
		default:
			panic(failure("ERR Unsupported option " + a[2]))
		}
	}
	if v.expires = at; at <= s.millis {
		delete(s.keys, a[0])
	}
	return int64(1)
}
