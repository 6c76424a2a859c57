package calls

import (
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// Key identifies a request.
type Key struct {
	Tree  pathlock.Tree
	Owner pathlock.Owner
	Grant pathlock.GrantID
}

// Request is what commands ask the server to grant.
type Request struct {
	Key
	Lease time.Duration
	// Sent is the owner as scripts get it, and tells how often the request was sent.
	Sent lua.Counted
	// Asked counts how often its script was called.
	Asked atomic.Int32
}

// NewRequest returns a request that has not been sent.
func NewRequest(k Key, lease time.Duration) *Request {
	return &Request{Key: k, Lease: lease, Sent: lua.Counted{Value: string(k.Owner)}}
}

// writes returns how often the request was sent; a command about no request has 0.
func (r *Request) writes() int32 {
	if r == nil {
		return 0
	}
	return r.Sent.Writes()
}
