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
)

// tokenBytes is the length of the tokens in gate keys: redislock's own by default, and ours.
const tokenBytes = 22

// Snapshot implements [pathlock.Store]. It reads the whole table of the tree in one script, so that
// its cost grows with what is held. A gate that another program took with redislock is
// shown with its token for the owner and its metadata for the note; since when is not known.
func (s *Store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	what := operation{verb: "snapshot", tree: tree}
	snapshot, err := call(ctx, s, what, func(ctx context.Context) (pathlock.Snapshot, error) {
		answer, err := s.scripts.snapshot.run(ctx, s.runner, s.keys.of(tree))
		if err != nil {
			return pathlock.Snapshot{}, err
		}
		image, err := parseImage(answer)
		if err != nil {
			return pathlock.Snapshot{}, err
		}
		return image.snapshot(tree)
	}, nil)
	return snapshot, err
}

// image is what the snapshot script reads.
type image struct {
	now       int64 // ms
	fence     uint64
	gate      string
	gateTTL   int64 // ms
	locks     map[string]string
	deadlines []string // member, score, …
}

func parseImage(answer any) (image, error) {
	items, ok := answer.([]any)
	if !ok || len(items) != 6 {
		return image{}, fmt.Errorf("unexpected reply %v", answer)
	}
	fields, err := parseStrings(items[4])
	if err != nil {
		return image{}, err
	}
	deadlines, err := parseStrings(items[5])
	if err != nil {
		return image{}, err
	}
	head, err := parseReply(items[:4], "")
	if err != nil {
		return image{}, err
	}
	im := image{fence: head.number(0), gate: head.text(1), locks: make(map[string]string, len(fields)/2), deadlines: deadlines}
	if im.now, err = strconv.ParseInt(head.status, 10, 64); err != nil {
		return image{}, fmt.Errorf("the server's time: %w", err)
	}
	if im.gateTTL, err = strconv.ParseInt(head.text(2), 10, 64); err != nil {
		return image{}, fmt.Errorf("the gate's time to live: %w", err)
	}
	for pair := range slices.Chunk(fields, 2) {
		im.locks[pair[0]] = pair[1]
	}
	return im, nil
}

// parseStrings reads an array of an even number of strings.
func parseStrings(answer any) ([]string, error) {
	items, ok := answer.([]any)
	if !ok || len(items)%2 != 0 {
		return nil, fmt.Errorf("unexpected %T in a reply", answer)
	}
	all := make([]string, len(items))
	for i, item := range items {
		if all[i], ok = item.(string); !ok {
			return nil, fmt.Errorf("unexpected %T in a reply", item)
		}
	}
	return all, nil
}

// snapshot decodes the image. What has ended with its lease is left out, whether it has been cleared away or not.
func (im image) snapshot(tree pathlock.Tree) (pathlock.Snapshot, error) {
	out := pathlock.Snapshot{Tree: tree, Fence: im.fence, Holders: []pathlock.Hold{}, Waiters: []pathlock.Hold{}}
	type queued struct {
		ticket string
		hold   pathlock.Hold
	}
	var waiters []queued
	ours := false
	for pair := range slices.Chunk(im.deadlines, 2) {
		member := pair[0]
		ms, err := strconv.ParseFloat(pair[1], 64)
		if err != nil {
			return pathlock.Snapshot{}, fmt.Errorf("a deadline: %w", err)
		}
		until := int64(ms)
		if until <= im.now {
			continue
		}
		record := im.locks[member]
		if owner, ok := strings.CutPrefix(member, "o"); ok {
			holds, err := decodeGrants(pathlock.Owner(owner), record, time.UnixMilli(until))
			if err != nil {
				return pathlock.Snapshot{}, err
			}
			out.Holders = append(out.Holders, holds...)
		} else {
			hold, err := decodeRequest(record)
			if err != nil {
				return pathlock.Snapshot{}, err
			}
			waiters = append(waiters, queued{member, hold})
			ours = ours || hold.Gate && strings.HasPrefix(im.gate, gateToken(hold.Owner))
		}
	}
	slices.SortFunc(out.Holders, func(a, b pathlock.Hold) int { return cmp.Compare(a.Fence, b.Fence) })
	slices.SortFunc(waiters, func(a, b queued) int { return cmp.Compare(a.ticket, b.ticket) })
	for _, w := range waiters {
		out.Waiters = append(out.Waiters, w.hold)
	}
	for _, h := range out.Holders {
		ours = ours || h.Gate && strings.HasPrefix(im.gate, gateToken(h.Owner))
	}
	if im.gate != "" && !ours {
		out.Holders = slices.Insert(out.Holders, 0, im.foreignGate())
	}
	return out, nil
}

// foreignGate describes a gate key that no owner of the tree has.
func (im image) foreignGate() pathlock.Hold {
	n := min(tokenBytes, len(im.gate))
	h := pathlock.Hold{Owner: pathlock.Owner(im.gate[:n]), Gate: true, Claims: []pathlock.Claim{}, Note: im.gate[n:]}
	if im.gateTTL > 0 {
		h.Until = time.UnixMilli(im.now + im.gateTTL)
	}
	return h
}

// decodeGrants reads an owner's record: see GRANT in scripts/lib/table.lua.
func decodeGrants(owner pathlock.Owner, record string, until time.Time) ([]pathlock.Hold, error) {
	fields, err := decodeRecord(record)
	if err != nil {
		return nil, err
	}
	var holds []pathlock.Hold
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
		holds = append(holds, h)
	}
	return holds, nil
}

// decodeRequest reads a queued request's record: see REQUEST in scripts/lib/queue.lua.
func decodeRequest(record string) (pathlock.Hold, error) {
	f, err := decodeRecord(record)
	if err != nil {
		return pathlock.Hold{}, err
	}
	if len(f) != 10 {
		return pathlock.Hold{}, fmt.Errorf("the record of a waiter is damaged")
	}
	h, err := decodeHold(pathlock.Owner(f[0]), f[7], f[8], f[9], f[4])
	h.Until = instant(f[3])
	return h, err
}

// decodeHold reads what grants and requests have in common.
func decodeHold(owner pathlock.Owner, claims, paths, note, since string) (pathlock.Hold, error) {
	decoded, err := decodePaths(paths)
	if err != nil {
		return pathlock.Hold{}, fmt.Errorf("owner %s: %w", owner.Short(), err)
	}
	return pathlock.Hold{
		Owner:  owner,
		Gate:   strings.HasPrefix(claims, gateNode+string(digit(pathlock.ModeX))),
		Claims: decoded,
		Note:   note,
		Since:  instant(since),
	}, nil
}

// gateToken returns the token that an owner's gate key has: token_of in scripts/lib/table.lua.
func gateToken(owner pathlock.Owner) string { return sha1Hex("gate:" + string(owner))[:tokenBytes] }
