package redisstore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// tableImage reads all keys of a tree at one instant. A record is its field, the id of the grant or
// request, the owner and the claims.
var tableImage = redis.NewScript(`
local ends = {}
for i = 1, 3 do ends[i] = redis.call('PEXPIRETIME', KEYS[i]) end
local gate_ends = redis.call('PEXPIRETIME', KEYS[5])
local time, fields, records = redis.call('TIME'), redis.call('HGETALL', KEYS[1]), {}
for i = 1, #fields, 2 do
  local kind = string.sub(fields[i], 1, 1)
  for _, r in ipairs((kind == 'o' or kind == 'w') and { cmsgpack.unpack(fields[i + 1]) } or {}) do
    records[#records + 1] = { fields[i], r.id, r.owner or string.sub(fields[i], 2), r.claims }
  end
end
return {
  fields, redis.call('ZRANGE', KEYS[2], '0', '-1', 'WITHSCORES'), redis.call('ZRANGE', KEYS[3], '0', '-1'), records,
  redis.call('GET', KEYS[5]) or '', ends, string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000)),
  gate_ends,
}`)

// loneDeadline is a fault that does no harm: a script that fails may leave it until the lease ends.
const loneDeadline = "a deadline without a record"

// keysApart is a fault that the next change mends, after a script that failed.
const keysApart = "the keys do not end together with the last lease"

// requireConsistent fails the test unless everything that Redis has about a tree follows from the
// grants and the queued requests in it. It is written from the description of the layout, not from
// the scripts.
func requireConsistent(t testing.TB, s *store, tree pathlock.Tree) {
	t.Helper()
	for _, fault := range inconsistencies(context.WithoutCancel(t.Context()), t, s, tree) {
		t.Errorf("inconsistent: %s", fault)
	}
}

func inconsistencies(ctx context.Context, t testing.TB, s *store, tree pathlock.Tree) (faults []string) {
	t.Helper()
	answer, err := tableImage.Run(ctx, s.client, s.keys.of(tree)).Slice()
	testerr.Must(t, err)
	complain := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	fields, deadlines := pairsOf(answer[0]), pairsOf(answer[1])
	queued := map[string]bool{}
	for _, member := range answer[2].([]any) {
		queued[member.(string)] = true
	}
	gate := answer[4].(string)

	// What the records say.
	held := map[string]map[string]pathlock.Mode{} // owner's field -> node -> mode
	waiting := map[string]int{}                   // node -> bits of the modes in which it is waited for
	nodes := map[string]map[pathlock.Mode]int{}   // node -> mode -> owners
	hasGate, gateEnds := "", int64(0)
	apart := map[string]bool{} // what the deadlines may have for each grant
	wantDeadlines, wantQueue, wantTickets := map[string]bool{}, map[string]bool{}, map[string][]string{}
	for _, record := range answer[3].([]any) {
		r := parseStrings(record)
		field, id, owner, claims := r[0], r[1], r[2], r[3]
		wantDeadlines[field] = true
		if field[0] == 'w' {
			continue // the owners' are first
		}
		own := fmt.Sprintf("g%d:%s%s", len(owner), owner, id)
		apart[own] = true
		if strings.HasPrefix(claims, gateNode+"5") {
			ends := number(deadlines[field])
			if deadlines[own] != "" {
				ends = min(ends, number(deadlines[own]))
			}
			hasGate, gateEnds = owner, max(gateEnds, ends)
		}
		if held[field] == nil {
			held[field] = map[string]pathlock.Mode{}
		}
		for claim := range slices.Chunk([]byte(claims), claimBytes) {
			name := string(claim[:len(gateNode)])
			held[field][name] = pathlock.Supremum(held[field][name], pathlock.Mode(claim[len(gateNode)]-'0'))
		}
	}
	for _, modes := range held {
		for name, mode := range modes {
			if nodes[name] == nil {
				nodes[name] = map[pathlock.Mode]int{}
			}
			nodes[name][mode]++
		}
	}
	for _, record := range answer[3].([]any) {
		r := parseStrings(record)
		field, owner, claims := r[0], r[2], r[3]
		if field[0] != 'w' {
			continue
		}
		ticket := field[1:]
		wantTickets[owner] = append(wantTickets[owner], ticket)
		converts := held["o"+owner] != nil || strings.HasPrefix(gate, gateToken(pathlock.Owner(owner)))
		for claim := range slices.Chunk([]byte(claims), claimBytes) {
			wantQueue[string(claim)+ticket] = true
			if converts {
				wantQueue["c"+string(claim)+ticket+owner] = true
			}
			if name, mode := string(claim[:len(gateNode)]), claim[len(gateNode)]-'0'; name != gateNode {
				waiting[name] |= 1 << (mode - 1)
			}
		}
	}

	// What follows from them: fields besides the records and the last ticket.
	want := map[string]string{}
	for name, modes := range nodes {
		for a, n := range modes {
			for b := range modes {
				if !pathlock.Compatible(a, b) && (a != b || n > 1) {
					complain("node %q is held in %v", name, modes)
				}
			}
		}
		want[name] = nodeValue(modes, waiting[name])
	}
	for name, bits := range waiting {
		want[name] = nodeValue(nodes[name], bits)
	}
	for member := range queued {
		if strings.HasPrefix(member, gateNode+"5") {
			want["l"] = "1"
		}
	}
	for owner, tickets := range wantTickets {
		slices.Sort(tickets)
		want["r"+owner] = strings.Join(tickets, "")
	}
	got := maps.Clone(fields)
	for field, value := range fields {
		if field == "k" || wantDeadlines[field] {
			delete(got, field)
		} else if field[0] == 'r' { // in any order
			tickets := slices.SortedFunc(slices.Chunk([]byte(value), 16), bytes.Compare)
			got[field] = string(slices.Concat(tickets...))
		}
	}
	if !maps.Equal(got, want) {
		complain("beside records, the fields are %q, want %q", got, want)
	}
	if !maps.Equal(queued, wantQueue) {
		complain("the queue is %v, want %v", slices.Sorted(maps.Keys(queued)), slices.Sorted(maps.Keys(wantQueue)))
	}
	for member := range deadlines {
		if !wantDeadlines[member] && !apart[member] {
			complain("%s: %s", loneDeadline, member)
		}
	}
	for member := range wantDeadlines {
		if deadlines[member] == "" {
			complain("a record without a deadline: %s", member)
		}
	}
	if hasGate != "" && gateEnds > number(answer[6].(string)) && !strings.HasPrefix(gate, gateToken(pathlock.Owner(hasGate))) {
		complain("owner %s has the gate, its key is %q", hasGate, gate)
	} else if ends := answer[7].(int64); hasGate != "" && gateEnds > number(answer[6].(string)) && ends != gateEnds {
		complain("owner %s has the gate until %d, its key ends at %d", hasGate, gateEnds, ends)
	}
	var ends []int64 // of the keys that there are
	for _, end := range answer[5].([]any) {
		if end.(int64) != -2 {
			ends = append(ends, end.(int64))
		}
	}
	last := int64(0)
	for _, deadline := range deadlines {
		last = max(last, number(deadline))
	}
	if len(ends) > 0 && (slices.Min(ends) < last || slices.Max(ends) != slices.Min(ends)) {
		complain("%s: locks, deadlines and queue at %v, the last lease at %d", keysApart, answer[5], last)
	}
	if len(deadlines) == 0 && (len(fields) > 0 || len(queued) > 0) {
		complain("left behind: %v %v", fields, queued)
	}
	return faults
}

// parseStrings reads an array of strings. A missing one is empty.
func parseStrings(answer any) []string {
	items := answer.([]any)
	all := make([]string, len(items))
	for i, item := range items {
		all[i], _ = item.(string)
	}
	return all
}

// pairsOf reads an array of names and values.
func pairsOf(answer any) map[string]string {
	values := map[string]string{}
	for p := range slices.Chunk(parseStrings(answer), 2) {
		values[p[0]] = p[1]
	}
	return values
}

func number(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }

// nodeValue is a node's field for the number of owners that have it in each mode, and the modes in
// which it is waited for.
func nodeValue(modes map[pathlock.Mode]int, waiting int) string {
	value := waiting<<47 + modes[pathlock.ModeIS]<<25
	for mode, n := range modes {
		if mode != pathlock.ModeIS {
			value += int(mode) + 8*n
		}
	}
	return strconv.Itoa(value)
}
