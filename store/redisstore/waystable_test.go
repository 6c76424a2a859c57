package redisstore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// inflated is a script that does nothing but inflate a thin lock.
var inflated = lua.NewScript(assemble("open() return '0'", nil, changeParts), "", lua.Keeping)

// copyTree copies the keys of one tree to those of another.
var copyTree = redis.NewScript(`for i = 1, #KEYS / 2 do redis.call('COPY', KEYS[i], KEYS[#KEYS / 2 + i], 'REPLACE') end`)

// readTree reads the keys of a tree, and when they end.
var readTree = redis.NewScript(`return {
  redis.call('HGETALL', KEYS[1]), redis.call('ZRANGE', KEYS[2], '0', '-1', 'WITHSCORES'), redis.call('ZRANGE', KEYS[3], '0', '-1'),
  redis.call('GET', KEYS[5]) or '', redis.call('PEXPIRETIME', KEYS[1]), redis.call('PEXPIRETIME', KEYS[2]), redis.call('PEXPIRETIME', KEYS[3]),
}`)

// age is what the leases and waits in these tests are multiples of: no test takes so long.
const age = 1000 * time.Second

// table describes the lock table, the thin lock inflated, with ranks in place of tickets and
// fences, and with times in whole ages from now. It is read from a copy, so that what is thin
// remains so.
func (w *way) table(t *testing.T) []string {
	t.Helper()
	ctx := t.Context()
	double := newTree(t)
	keys, copied := w.store.keys.of(w.tree), w.store.keys.of(double)
	if err := copyTree.Run(ctx, w.store.client, slices.Concat(keys, copied)).Err(); err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	if _, err := inflated.Run(ctx, w.store.runner, copied); err != nil {
		t.Fatal(err)
	}
	requireConsistent(t, w.store, double)
	image, err := readTree.Run(ctx, w.store.client, copied).Slice()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.client.Del(ctx, copied...).Err(); err != nil {
		t.Fatal(err)
	}
	return describe(t, image)
}

func describe(t *testing.T, image []any) (lines []string) {
	t.Helper()
	now := time.Now().Add(-age / 10)
	ages := func(ms string) string {
		n, err := strconv.ParseInt(ms, 10, 64)
		if err != nil {
			t.Fatalf("a time: %v", err)
		}
		return fmt.Sprint("age ", int64(time.UnixMilli(n).Sub(now)/age))
	}
	fields, _ := parseStrings(image[0])
	deadlines, _ := parseStrings(image[1])
	var tickets, fences []string
	for pair := range slices.Chunk(fields, 2) {
		switch pair[0][0] {
		case 'w':
			tickets = append(tickets, pair[0][1:])
		case 'o':
			record, _ := decodeRecord(pair[1])
			for grant := range slices.Chunk(record, 6) {
				fences = append(fences, grant[1])
			}
		}
	}
	slices.Sort(tickets)
	slices.Sort(fences)
	rank := func(all []string, one string) string { return fmt.Sprint("rank ", slices.Index(all, one)) }
	member := func(m string) string {
		if m[0] == 'w' {
			return "w" + rank(tickets, m[1:])
		}
		return m
	}
	for pair := range slices.Chunk(fields, 2) {
		field, value := pair[0], pair[1]
		record, _ := decodeRecord(value)
		switch field[0] {
		case 'o':
			for grant := range slices.Chunk(record, 6) {
				grant[1], grant[2] = rank(fences, grant[1]), ages(grant[2])
			}
			value = fmt.Sprintf("%q", record)
		case 'w':
			record[3], record[4], record[5] = ages(record[3]), ages(record[4]), ages(record[5])
			record[6] = "" // the channel is the store's
			field, value = member(field), fmt.Sprintf("%q", record)
		case 'r':
			var own []string
			for ticket := range chunks(value, 16) {
				own = append(own, rank(tickets, ticket))
			}
			value = fmt.Sprint(own)
		case 'k':
			value = "a ticket"
		}
		lines = append(lines, fmt.Sprintf("%q: %s", field, value))
	}
	last, lastPlace := "", ""
	for pair := range slices.Chunk(deadlines, 2) {
		lines = append(lines, fmt.Sprintf("deadline %s: %s", member(pair[0]), ages(pair[1])))
		last = max(last, pair[1])
		if pair[0][0] == 'w' || pair[0][0] == 't' {
			lastPlace = max(lastPlace, pair[1])
		}
	}
	for _, m := range image[2].([]any) {
		place := m.(string)
		for i, ticket := range tickets {
			place = strings.ReplaceAll(place, ticket, fmt.Sprint(" rank ", i, " "))
		}
		lines = append(lines, fmt.Sprintf("queue %q", place))
	}
	for i, key := range []string{"locks", "deadlines", "queue"} {
		needed := last
		if key == "queue" {
			needed = lastPlace
		}
		if ends := fmt.Sprint(image[4+i]); ends != "-2" && ends < needed {
			lines = append(lines, fmt.Sprintf("%s end at %s, before the last that is in it, at %s", key, ends, needed))
		}
	}
	lines = append(lines, "gate "+image[3].(string))
	slices.Sort(lines)
	return lines
}
