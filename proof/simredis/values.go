package simredis

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// value is what a key has: a hash, a sorted set, or else a string.
type value struct {
	text    string
	hash    map[string]string
	set     *sortedSet
	expires int64 // ms since 1970, 0 for never
}

func (v *value) clone() *value {
	c := &value{text: v.text, hash: maps.Clone(v.hash), expires: v.expires}
	if v.set != nil {
		c.set = &sortedSet{slices.Clone(v.set.members)}
	}
	return c
}

// isEmpty reports whether the value is a hash or a set that has lost its last element: its key goes
// with that.
func (v *value) isEmpty() bool {
	return v.hash != nil && len(v.hash) == 0 || v.set != nil && len(v.set.members) == 0
}

// sortedSet has members in the order of their scores, and of their names where these are equal. It
// is small.
type sortedSet struct{ members []member }

type member struct {
	score float64
	name  string
}

// find returns the place of a member, -1 if it is not there.
func (s *sortedSet) find(name string) int {
	return slices.IndexFunc(s.members, func(m member) bool { return m.name == name })
}

func (s *sortedSet) add(score float64, name string) (added int64) {
	added = 1 - s.remove(name)
	m := member{score, name}
	i, _ := slices.BinarySearchFunc(s.members, m, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.name, b.name))
	})
	s.members = slices.Insert(s.members, i, m)
	return added
}

func (s *sortedSet) remove(name string) (removed int64) {
	i := s.find(name)
	if i < 0 {
		return 0
	}
	s.members = slices.Delete(s.members, i, i+1)
	return 1
}

// between returns the members from the first for which from is true, up to the first for which
// beyond is.
func (s *sortedSet) between(from, beyond func(member) bool) []member {
	first := slices.IndexFunc(s.members, from)
	if first < 0 {
		return nil
	}
	rest := s.members[first:]
	if end := slices.IndexFunc(rest, beyond); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// byLex returns the members between two names, as ZRANGEBYLEX writes them. All scores are equal.
func (s *sortedSet) byLex(low, high string) []member {
	return s.between(
		func(m member) bool { return m.name > low[1:] || low[0] == '[' && m.name == low[1:] },
		func(m member) bool { return m.name > high[1:] || high[0] == '(' && m.name == high[1:] },
	)
}

// byScores returns the members between two scores, as ZRANGEBYSCORE writes them.
func (s *sortedSet) byScores(low, high string) []member {
	lo, hi := scoreOf(low), scoreOf(high)
	return s.between(func(m member) bool { return m.score >= lo }, func(m member) bool { return m.score > hi })
}

// byRank returns the members of two places, both included. Negative ones count from the end.
func byRank(members []member, from, to string) []member {
	place := func(text string) int {
		n, _ := strconv.Atoi(text)
		if n < 0 {
			n += len(members)
		}
		return n
	}
	first, last := max(place(from), 0), min(place(to), len(members)-1)
	if first > last {
		return nil
	}
	return members[first : last+1]
}

func scoreOf(text string) float64 {
	switch text {
	case "-inf":
		return math.Inf(-1)
	case "+inf":
		return math.Inf(1)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(failure("ERR value is not a valid float"))
	}
	return f
}

func scoreText(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// listed is a reply with members, and their scores where they are wanted.
func listed(members []member, scores bool) []any {
	all := make([]any, 0, 2*len(members))
	for _, m := range members {
		if all = append(all, m.name); scores {
			all = append(all, scoreText(m.score))
		}
	}
	return all
}
