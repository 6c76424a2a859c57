package section

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// ownStore is a store in Redis under a prefix of its own, with its client.
type ownStore struct {
	at     contender.Server
	admin  redis.UniversalClient
	client *redis.Client
	redis  *redisstore.Store
}

// openStore opens a store for the section of that name.
func openStore(env *Env, name string, opts ...redisstore.Option) (*ownStore, error) {
	return openStoreAt(env, env.server(name), opts...)
}

// openStoreAt opens a store under a prefix that other open stores may have.
func openStoreAt(env *Env, at contender.Server, opts ...redisstore.Option) (*ownStore, error) {
	client, err := at.Client()
	if err != nil {
		return nil, err
	}
	store := redisstore.New(client, append(opts, redisstore.WithPrefix(at.Prefix))...)
	return &ownStore{at: at, admin: env.Admin, client: client, redis: store}, nil
}

// close ends the remaining waits, and deletes all trees.
func (s *ownStore) close(ctx context.Context) error {
	return errors.Join(s.redis.Close(ctx), s.client.Close(), redisserver.Delete(context.WithoutCancel(ctx), s.admin, s.at.Prefix))
}

// closeStore closes s when a section returns, and adds its error to the section's.
func closeStore(ctx context.Context, s *ownStore, err *error) {
	if failed := s.close(ctx); failed != nil && *err == nil {
		*err = failed
	}
}
