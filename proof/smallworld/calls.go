package smallworld

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/proof/simredis"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// The names that stand in recorded calls for those of each call.
const (
	someOwner = "SOME-OWNER"
	heir      = "SOME-HEIR"
	someGrant = "SOME-GRANT"
)

// calls are what the store sends to Redis, as it has sent it once: the scripts' arguments are its
// business, and not this package's.
type calls struct {
	acquire                              [][]string // for each ask
	release, withdraw, force, move, show []string
	tree                                 pathlock.Tree
}

// record has the store make every call once.
func record(tree pathlock.Tree) (*calls, error) {
	server := simredis.New()
	var sent [][]string
	server.Ran = func(args []string) {
		if strings.HasPrefix(args[0], "eval") {
			sent = append(sent, args)
		}
	}
	client := redis.NewClient(&redis.Options{Dialer: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go server.Serve(there)
		return here, nil
	}, ContextTimeoutEnabled: true, PoolSize: 1})
	defer func() { _ = client.Close() }()
	store := redisstore.New(client)
	ctx := context.Background()
	defer func() { _ = store.Close(ctx) }()
	texts := make(map[string]string)
	last := func() []string { // with the script's text in the place of its name
		call := slices.Clone(sent[len(sent)-1])
		for _, args := range sent {
			if args[0] == "eval" {
				sum := sha1.Sum([]byte(args[1]))
				texts[hex.EncodeToString(sum[:])] = args[1]
			}
		}
		if call[0] == "evalsha" {
			call[0], call[1] = "eval", texts[call[1]]
		}
		return call
	}
	c := &calls{tree: tree}
	for _, a := range asks {
		req := pathlock.Acquisition{
			Tree: tree, Owner: someOwner, Grant: someGrant, Note: someGrant, Gate: a.gate, Claims: pathlock.Normalize(a.claims...),
			Lease: time.Hour, Wait: time.Hour,
		}
		if _, err := store.Acquire(ctx, req); err != nil {
			return nil, err
		}
		c.acquire = append(c.acquire, last())
		if err := store.Release(ctx, tree, someOwner, someGrant); err != nil {
			return nil, err
		}
		c.release = last()
	}
	first := pathlock.Acquisition{Tree: tree, Owner: "first", Grant: "first", Gate: true, Lease: time.Hour}
	_, err := store.Acquire(ctx, first)
	waits, cancel := context.WithCancel(ctx)
	second := pathlock.Acquisition{Tree: tree, Owner: someOwner, Grant: someGrant, Gate: true, Lease: time.Hour, Wait: time.Hour, Waiting: cancel}
	if _, cancelled := store.Acquire(waits, second); !errors.Is(cancelled, context.Canceled) {
		err = errors.Join(err, fmt.Errorf("a wait that is cancelled ends with %w", cancelled))
	}
	c.withdraw = last()
	_, failed := store.Snapshot(ctx, tree)
	c.show = last()
	_, transferred := store.Transfer(ctx, pathlock.Transfer{Tree: tree, From: "first", To: heir})
	c.move = last()
	err = errors.Join(err, failed, transferred, store.ForceRelease(ctx, tree, heir))
	c.force = last()
	for i := 2; i < len(c.move); i++ {
		c.move[i] = strings.ReplaceAll(c.move[i], "first", someOwner)
	}
	for i := 2; i < len(c.force); i++ {
		c.force[i] = strings.ReplaceAll(c.force[i], heir, someOwner)
	}
	return c, err
}
