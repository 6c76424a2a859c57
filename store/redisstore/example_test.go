package redisstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// A job in another language takes the gate by its key: see there.
func ExampleGateKey() {
	tree, _ := pathlock.NewTree("testplan", "plan-001")
	fmt.Println(redisstore.GateKey(tree))
	tree, _ = pathlock.NewTree("计划", "a/b 100%")
	fmt.Println(redisstore.GateKey(tree))
	// Output:
	// pathlock:{testplan/plan-001}:gate
	// pathlock:{%E8%AE%A1%E5%88%92/a%2Fb%20100%25}:gate
}

// The program closes the store before its client.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379", ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()

	store := redisstore.New(client,
		redisstore.WithPrefix("staging"), // keeps several programs apart in one Redis
		redisstore.WithTimeout(time.Second),
		redisstore.WithMaxWaiters(1000),
		redisstore.WithMaxClaims(100),
	)
	defer func() { _ = store.Close(context.Background()) }()

	tree, _ := pathlock.NewTree("testplan", "plan-001")
	fmt.Println(redisstore.GateKey(tree, redisstore.WithPrefix("staging")))
	// Output: staging:{testplan/plan-001}:gate
}

// A URL says which deployment it is: one server, a cluster, or sentinels.
func ExampleOpen() {
	store, err := redisstore.Open("redis+sentinel://mymaster@10.0.0.1,10.0.0.2,10.0.0.3/0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(context.Background()) }()

	_, err = redisstore.Open("http://10.0.0.1")
	fmt.Println(err)
	// Output: redisstore: the URL's scheme is not redis, redis+cluster or redis+sentinel, or one of these with rediss
}
