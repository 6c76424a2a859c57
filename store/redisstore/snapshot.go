package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// tokenBytes is the length of the tokens in gate keys: redislock's own by default, and ours.
const tokenBytes = 22

// emptyGate stands for the owner of a gate key with no text in it.
const emptyGate = "-"

// snapshotPage is how many holders and waiters one script reads: enough for most trees, few enough
// that no script keeps the server from other work for long.
const snapshotPage = 200

// Snapshot implements [pathlock.Store]. It reads up to about 200 owners and waiting requests at one
// instant, and more of them in pages. Who came or went between two pages may be shown or not; who
// stayed is shown. A gate that another program took with redislock is shown with its token as the
// owner and its metadata as the note; it is not known since when it is held.
func (s *Store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	what, keys := calls.Operation{Verb: "snapshot", Tree: tree}, s.keys.of(tree)
	im := image{entries: make(map[string]entry)}
	for cursor := "0"; ; {
		p, err := calls.Do(ctx, s.calls, what, func(ctx context.Context) (page, error) {
			answer, err := s.scripts.snapshot.Run(ctx, s.runner, keys, &cursor, snapshotPage)
			if err != nil {
				return page{}, err
			}
			return parsePage(answer)
		})
		if err != nil {
			return pathlock.Snapshot{}, err
		}
		im.add(p)
		if cursor = p.next; cursor == "0" {
			break
		}
	}
	snapshot, err := im.snapshot(tree)
	if err != nil {
		return pathlock.Snapshot{}, calls.Unavailable(what, err)
	}
	return snapshot, nil
}

// page is what the snapshot script reads.
type page struct {
	now     int64 // ms
	fence   uint64
	gate    string
	gateTTL int64  // ms; -2 if there is no gate key
	next    string // the cursor of the next page, 0 if this is the last
	entries []entry
}

// entry is an owner or a queued request.
type entry struct {
	member   string // o<owner>, w<ticket>, or of what has no record: see scripts/lib/keys.lua
	deadline string // ms
	record   string
}

// until returns when the lease or the place in the queue ends, in ms.
func (e entry) until() (int64, error) {
	ms, err := strconv.ParseFloat(e.deadline, 64)
	if err != nil {
		return 0, fmt.Errorf("a deadline: %w", err)
	}
	return int64(ms), nil
}

func parsePage(answer any) (page, error) {
	items, ok := answer.([]any)
	if !ok || len(items) != 7 {
		return page{}, fmt.Errorf("unexpected reply %v", answer)
	}
	head, err := lua.ParseReply(items[:5])
	if err != nil {
		return page{}, err
	}
	p := page{fence: head.Number(0), gate: head.Text(1), next: head.Text(3)}
	if p.now, err = strconv.ParseInt(head.Status, 10, 64); err != nil {
		return page{}, fmt.Errorf("the server's time: %w", err)
	}
	if p.gateTTL, err = strconv.ParseInt(head.Text(2), 10, 64); err != nil {
		return page{}, fmt.Errorf("the gate's time to live: %w", err)
	}
	scored, err := parseStrings(items[5])
	if err != nil {
		return page{}, err
	}
	records, err := parseStrings(items[6])
	if err != nil {
		return page{}, err
	}
	if len(scored) != 2*len(records) {
		return page{}, fmt.Errorf("%d deadlines and %d records", len(scored)/2, len(records))
	}
	for i, record := range records {
		p.entries = append(p.entries, entry{scored[2*i], scored[2*i+1], record})
	}
	return p, nil
}

// parseStrings reads an array of strings. What is missing is the empty one.
func parseStrings(answer any) ([]string, error) {
	items, ok := answer.([]any)
	if !ok {
		return nil, fmt.Errorf("unexpected %T in a reply", answer)
	}
	all := make([]string, len(items))
	for i, item := range items {
		if all[i], ok = item.(string); !ok && item != nil {
			return nil, fmt.Errorf("unexpected %T in a reply", item)
		}
	}
	return all, nil
}

// image is what the pages show together. The last page's word counts.
type image struct {
	page
	entries map[string]entry // by member
}

func (im *image) add(p page) {
	im.page = p
	for _, e := range p.entries {
		im.entries[e.member] = e
	}
}

// snapshot decodes the image. What has ended with its lease is left out, whether it has been
// cleared away or not.
func (im image) snapshot(tree pathlock.Tree) (pathlock.Snapshot, error) {
	out := pathlock.Snapshot{Tree: tree, Fence: im.fence, Holders: []pathlock.Entry{}, Waiters: []pathlock.Entry{}}
	type queued struct {
		ticket string
		hold   pathlock.Entry
	}
	var waiters []queued
	ours := false
	for member, e := range im.entries {
		until, err := e.until()
		if err != nil {
			return pathlock.Snapshot{}, err
		}
		if until <= im.now || e.record == "" {
			continue // it has ended, its record has been deleted, or it has none
		}
		if owner, ok := strings.CutPrefix(member, "o"); ok {
			holds, err := decodeGrants(pathlock.Owner(owner), e.record, time.UnixMilli(until))
			if err != nil {
				return pathlock.Snapshot{}, err
			}
			for _, h := range holds {
				if own, apart := im.entries[apartMember(h.Owner, h.id)]; apart {
					end, err := own.until()
					if err != nil {
						return pathlock.Snapshot{}, err
					}
					if end <= im.now {
						continue
					}
					h.Until = time.UnixMilli(min(end, until))
				}
				out.Holders = append(out.Holders, h.Entry)
			}
		} else {
			hold, err := decodeRequest(e.record)
			if err != nil {
				return pathlock.Snapshot{}, err
			}
			waiters = append(waiters, queued{member, hold})
			ours = ours || hold.Gate && strings.HasPrefix(im.gate, gateToken(hold.Owner))
		}
	}
	slices.SortFunc(out.Holders, func(a, b pathlock.Entry) int { return cmp.Compare(a.Fence, b.Fence) })
	slices.SortFunc(waiters, func(a, b queued) int { return cmp.Compare(a.ticket, b.ticket) })
	for _, w := range waiters {
		out.Waiters = append(out.Waiters, w.hold)
	}
	for _, h := range out.Holders {
		ours = ours || h.Gate && strings.HasPrefix(im.gate, gateToken(h.Owner))
	}
	if im.gateTTL != -2 && !ours {
		out.Holders = slices.Insert(out.Holders, 0, im.foreignGate())
	}
	return out, nil
}

// foreignGate describes a gate key that no owner of the tree has.
func (im image) foreignGate() pathlock.Entry {
	n := min(tokenBytes, len(im.gate))
	h := pathlock.Entry{Owner: pathlock.Owner(cmp.Or(im.gate[:n], emptyGate)), Gate: true, Claims: []pathlock.Claim{}, Note: im.gate[n:]}
	if im.gateTTL > 0 {
		h.Until = time.UnixMilli(im.now + im.gateTTL)
	}
	return h
}

// heldGrant is a grant as it is written.
type heldGrant struct {
	id pathlock.GrantID
	pathlock.Entry
}

// decodeGrants reads an owner's record: see GRANT in scripts/lib/record.lua.
func decodeGrants(owner pathlock.Owner, record string, until time.Time) ([]heldGrant, error) {
	fields, err := decodeRecord(record)
	if err != nil {
		return nil, err
	}
	var holds []heldGrant
	for f := range slices.Chunk(fields, 6) {
		if len(f) < 6 {
			return nil, fmt.Errorf("the record of owner %s is damaged", owner.Short())
		}
		h, err := decodeHold(owner, f[3], f[4], f[5], f[2])
		if err != nil {
			return nil, err
		}
		if h.Fence, err = strconv.ParseUint(f[1], 10, 64); err != nil {
			return nil, fmt.Errorf("a fence: %w", err)
		}
		h.Until = until
		holds = append(holds, heldGrant{pathlock.GrantID(f[0]), h})
	}
	return holds, nil
}

// requestFields is how many strings a queued request's record has.
const requestFields = 12

// decodeRequest reads a queued request's record: see REQUEST in scripts/lib/record.lua.
func decodeRequest(record string) (pathlock.Entry, error) {
	f, err := decodeRecord(record)
	if err != nil {
		return pathlock.Entry{}, err
	}
	if len(f) != requestFields {
		return pathlock.Entry{}, fmt.Errorf("the record of a waiter is damaged")
	}
	h, err := decodeHold(pathlock.Owner(f[0]), f[8], f[9], f[10], f[4])
	h.Until = instant(f[3])
	return h, err
}

// decodeHold reads what grants and requests have in common.
func decodeHold(owner pathlock.Owner, claims, paths, note, since string) (pathlock.Entry, error) {
	decoded, err := decodePaths(paths)
	if err != nil {
		return pathlock.Entry{}, fmt.Errorf("owner %s: %w", owner.Short(), err)
	}
	return pathlock.Entry{
		Owner:    owner,
		Gate:     strings.HasPrefix(claims, gateNode+string(digit(pathlock.ModeX))),
		Detached: owner.Detached(),
		Claims:   decoded,
		Note:     note,
		Since:    instant(since),
	}, nil
}

// gateToken returns the token that an owner's gate key has: token_of in scripts/lib/gate.lua.
func gateToken(owner pathlock.Owner) string { return lua.SHA1("gate:" + string(owner))[:tokenBytes] }
