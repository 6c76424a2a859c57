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

// Snapshot implements [pathlock.Store]: one script, which reads the tree at one instant. A gate
// that another program took with redislock is shown with its token as the owner and its metadata as
// the note; it is not known since when it is held.
func (s *Store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	what, keys := calls.Operation{Verb: "snapshot", Tree: tree}, s.keys.of(tree)
	got, err := calls.Do(ctx, s.calls, what, func(ctx context.Context) (lua.Reply, error) {
		return s.scripts.snapshot.Ask(ctx, s.client, keys)
	})
	if err != nil {
		return pathlock.Snapshot{}, err
	}
	im, err := parseImage(got)
	if err != nil {
		return pathlock.Snapshot{}, calls.Unavailable(what, err)
	}
	snapshot, err := im.snapshot(tree)
	if err != nil {
		return pathlock.Snapshot{}, calls.Unavailable(what, err)
	}
	return snapshot, nil
}

// image is what the snapshot script reads.
type image struct {
	now     int64 // ms
	fence   uint64
	gate    string
	gateTTL int64            // ms; -2 if there is no gate key
	entries map[string]entry // by member of deadlines: see scripts/lib/keys.lua
}

// entry is an owner or a queued request.
type entry struct {
	until  int64  // when the lease or the place in the queue ends, in ms
	record string // empty for what has none
}

func parseImage(got lua.Reply) (im image, err error) {
	const head, each = 3, 3
	if len(got.Rest) < head || (len(got.Rest)-head)%each != 0 {
		return image{}, fmt.Errorf("unexpected reply of %d strings", len(got.Rest))
	}
	im = image{fence: got.Number(0), gate: got.Text(1), entries: make(map[string]entry)}
	number := func(s string) int64 {
		n, failed := strconv.ParseInt(s, 10, 64)
		err = cmp.Or(err, failed)
		return n
	}
	im.now, im.gateTTL = number(got.Status), number(got.Text(2))
	for e := range slices.Chunk(got.Rest[head:], each) {
		im.entries[e[0]] = entry{number(e[1]), e[2]}
	}
	return im, err
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
		if e.until <= im.now || e.record == "" {
			continue // it has ended, its record has been deleted, or it has none
		}
		if owner, ok := strings.CutPrefix(member, "o"); ok {
			holds, err := decodeGrants(pathlock.Owner(owner), e.record, time.UnixMilli(e.until))
			if err != nil {
				return pathlock.Snapshot{}, err
			}
			for _, h := range holds {
				if own, apart := im.entries[apartMember(h.Owner, h.id)]; apart {
					if own.until <= im.now {
						continue
					}
					h.Until = time.UnixMilli(min(own.until, e.until))
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
