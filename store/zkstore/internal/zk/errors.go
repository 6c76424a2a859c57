package zk

import (
	"errors"
	"fmt"
)

// Code is the server's answer to a request that it has refused.
type Code int32

// The answers that a lock store tells apart. Their numbers are ZooKeeper's.
const (
	ErrNotAttempted Code = -2 // a part of a Multi after the one that failed
	ErrNoNode       Code = -101
	ErrNoAuth       Code = -102
	ErrBadVersion   Code = -103
	ErrNodeExists   Code = -110
	ErrNotEmpty     Code = -111
	ErrExpired      Code = -112
	ErrInvalidACL   Code = -114
	ErrAuthFailed   Code = -115
	ErrMoved        Code = -118
	ErrNoWatcher    Code = -121
	ErrQuota        Code = -125
)

var codeTexts = map[Code]string{
	ErrNotAttempted: "not attempted",
	ErrNoNode:       "there is no such znode",
	ErrNoAuth:       "the ACL does not allow it",
	ErrBadVersion:   "the znode has another version",
	ErrNodeExists:   "the znode exists",
	ErrNotEmpty:     "the znode has children",
	ErrExpired:      "the session has expired",
	ErrInvalidACL:   "the ACL is not valid",
	ErrAuthFailed:   "the credentials are refused",
	ErrMoved:        "the session has moved to another server",
	ErrNoWatcher:    "there is no such watch",
	ErrQuota:        "a quota is exceeded",
}

func (c Code) Error() string {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	return fmt.Sprintf("ZooKeeper's error %d", int32(c))
}

var (
	// ErrLost is for requests whose connection was lost before the answer came. Whether they were
	// carried out is not known.
	ErrLost = errors.New("the connection was lost before the answer")
	// ErrUnreachable is for requests that were not sent, because no server could be reached.
	ErrUnreachable = errors.New("no server could be reached")
	// ErrOtherSession is for requests that were not sent, because they were meant for a session
	// that has been followed by another one.
	ErrOtherSession = errors.New("the session has been replaced")
	// ErrTooLarge is for requests that were not sent, because no server would take them.
	ErrTooLarge = errors.New("the request is larger than the servers' jute.maxbuffer")
	// ErrClosed is for requests after Close.
	ErrClosed = errors.New("the client is closed")
)
