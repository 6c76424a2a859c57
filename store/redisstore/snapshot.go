package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// tokenBytes is the length of the tokens in gate keys: redislock's own by default, and ours.
const tokenBytes = 22

// emptyGate stands for the owner of a gate key with no text in it.
const emptyGate = "-"

// Snapshot implements [pathlock.Store]: one script, which reads the tree at one instant. A gate
// that another program took with redislock is shown with its token as the owner and its metadata as
// the note; when its hold began is not known.
func (s *store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	what := operation{Verb: "snapshot", Tree: tree, Looks: true}
	got, err := s.run(ctx, tree, &s.scripts.snapshot, what)
	if err != nil {
		return pathlock.Snapshot{}, err
	}
	snapshot, err := decodeSnapshot(tree, got)
	if err != nil {
		return pathlock.Snapshot{}, unavailable(what, err)
	}
	return snapshot, nil
}

// decodeSnapshot reads the snapshot script's reply.
func decodeSnapshot(tree pathlock.Tree, got reply) (pathlock.Snapshot, error) {
	const head, each = 3, 9
	if len(got.rest) < head || (len(got.rest)-head)%each != 0 {
		return pathlock.Snapshot{}, fmt.Errorf("unexpected reply of %d strings", len(got.rest))
	}
	gate, gateTTL, ours := got.text(1), got.text(2), false
	out := pathlock.Snapshot{Tree: tree, Now: instant(got.status), Fence: got.number(0), Holders: []pathlock.Entry{}, Waiters: []pathlock.Entry{}}
	for f := range slices.Chunk(got.rest[head:], each) {
		e, err := decodeEntry(pathlock.Owner(f[1]), f[5], f[6], f[7])
		if err != nil {
			return pathlock.Snapshot{}, err
		}
		e.Until, e.Since, e.Origin = instant(f[3]), instant(f[4]), decodeOrigin(f[8])
		if e.Fence, err = strconv.ParseUint(f[2], 10, 64); err != nil {
			return pathlock.Snapshot{}, fmt.Errorf("a fence: %w", err)
		}
		ours = ours || e.Gate && strings.HasPrefix(gate, gateToken(e.Owner))
		if f[0] == "holder" {
			out.Holders = append(out.Holders, e)
		} else {
			out.Waiters = append(out.Waiters, e)
		}
	}
	arrived := func(a, b pathlock.Entry) int { return cmp.Compare(a.Fence, b.Fence) }
	slices.SortFunc(out.Holders, arrived)
	slices.SortFunc(out.Waiters, arrived)
	for i := range out.Waiters {
		out.Waiters[i].Fence = 0 // it was the ticket
	}
	if gateTTL != "-2" && !ours {
		out.Holders = slices.Insert(out.Holders, 0, foreignGate(gate, got, out.Now))
	}
	return out, nil
}

// foreignGate describes a gate key that no owner of the tree has.
func foreignGate(gate string, got reply, now time.Time) pathlock.Entry {
	n := min(tokenBytes, len(gate))
	e := pathlock.Entry{Owner: pathlock.Owner(cmp.Or(gate[:n], emptyGate)), Gate: true, Claims: []pathlock.Claim{}, Note: gate[n:]}
	if ttl := int64(got.number(2)); ttl > 0 { // -1 is no number: the key stays
		e.Until = now.Add(time.Duration(ttl) * time.Millisecond)
	}
	return e
}

// decodeEntry reads what grants and requests have in common.
func decodeEntry(owner pathlock.Owner, claims, paths, note string) (pathlock.Entry, error) {
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
	}, nil
}

// gateToken returns the token that an owner's gate key has: token_of in scripts/lib/gate.lua.
func gateToken(owner pathlock.Owner) string { return sha1Hex("gate:" + string(owner))[:tokenBytes] }

// Trees implements [pathlock.Store]. It scans the names of all keys, on every primary of a cluster,
// so that no list of trees has to be kept or can go stale. Its cost grows with the number of keys
// in Redis: Trees is for people who look at locks.
func (s *store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	what := operation{Verb: "list the trees", Looks: true}
	nodes, err := s.nodes(ctx, what)
	if err != nil {
		return nil, err
	}
	trees := make(map[pathlock.Tree]bool)
	for _, node := range nodes {
		err := s.scan(ctx, what, node, func(keys []string) {
			for _, key := range keys {
				if tree, ok := s.keys.treeInUse(key); ok {
					trees[tree] = true
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Collect(maps.Keys(trees)), nil
}

// scan hands the names of a node's keys to found, page by page. The store's timeout is for each
// page, since there may be any number of them.
func (s *store) scan(ctx context.Context, what operation, node redis.Cmdable, found func(keys []string)) error {
	const page = 1000
	for cursor := uint64(0); ; {
		answer, err := do(ctx, s.calls, what, func(ctx context.Context) (*redis.ScanCmd, error) {
			cmd := node.Scan(ctx, cursor, s.keys.pattern(), page)
			return cmd, cmd.Err()
		})
		if err != nil {
			return err
		}
		var keys []string
		keys, cursor = answer.Val()
		found(keys)
		if cursor == 0 {
			return nil
		}
	}
}

// nodes returns the nodes that have keys of their own.
func (s *store) nodes(ctx context.Context, what operation) ([]redis.Cmdable, error) {
	cluster, ok := s.client.(clusterClient)
	if !ok {
		return []redis.Cmdable{s.client}, nil
	}
	return do(ctx, s.calls, what, func(ctx context.Context) (nodes []redis.Cmdable, err error) {
		var mu sync.Mutex
		err = cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			nodes = append(nodes, node)
			return nil
		})
		return nodes, err
	})
}
