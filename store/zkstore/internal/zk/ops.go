package zk

import "time"

// ACL is one entry of a znode's access control list.
type ACL struct {
	Perms      int32
	Scheme, ID string
}

// PermAll allows everything.
const PermAll int32 = 0x1f

// Stat is what a server knows of a znode.
type Stat struct {
	Czxid, Mzxid   int64 // the transactions that created the znode and last changed its data
	Ctime, Mtime   int64 // when that was, in milliseconds since 1970 by the leader's clock
	Version        int32 // how often the data was changed
	EphemeralOwner int64 // the session that the znode lives by, 0 if it is persistent
	NumChildren    int32
}

// Mode says how a znode lives and is named.
type Mode int32

// The modes of znodes. A Sequential znode's name gets a number of ten digits that grows.
const (
	Persistent          Mode = 0
	PersistentSequence  Mode = 2
	EphemeralSequential Mode = 3
	Container           Mode = 4
	Ephemeral           Mode = 1
)

// The numbers of the operations are ZooKeeper's.
const (
	opCreate          int32 = 1
	opDelete          int32 = 2
	opGetData         int32 = 4
	opSetData         int32 = 5
	opSync            int32 = 9
	opPing            int32 = 11
	opGetChildren2    int32 = 12
	opMulti           int32 = 14
	opCreate2         int32 = 15
	opRemoveWatches   int32 = 18
	opCreateContainer int32 = 19
	opAuth            int32 = 100
	opClose           int32 = -11
	opError           int32 = -1
)

// Op is a request and, after Do, its answer.
type Op interface {
	code() int32
	encode(e *encoder)
	decode(d *decoder)
	answer() *Answer
	// repeatable reports whether the request may be sent again after a lost answer.
	repeatable() bool
}

// Answer is what all answers have in common.
type Answer struct {
	// Err is a Code if the server has refused the request.
	Err error
	// Zxid is the latest transaction that the server knew of when it answered.
	Zxid int64
	// Sent and Received say when, by this process's clock.
	Sent, Received time.Time
	// Session is the session that the request was sent in.
	Session int64
}

func (a *Answer) answer() *Answer { return a }

// Get reads a znode's data.
type Get struct {
	Answer
	Path string
	// Watch has the server tell when the data changes or the znode goes.
	Watch bool

	Data []byte
	Stat Stat
}

func (*Get) code() int32         { return opGetData }
func (*Get) repeatable() bool    { return true }
func (g *Get) encode(e *encoder) { e.text(g.Path); e.bool(g.Watch) }
func (g *Get) decode(d *decoder) { g.Data = d.bytes(); g.Stat = d.stat() }

// Children reads the names of a znode's children.
type Children struct {
	Answer
	Path string
	// Watch has the server tell when the children change or the znode goes.
	Watch bool

	Names []string
	Stat  Stat
}

func (*Children) code() int32         { return opGetChildren2 }
func (*Children) repeatable() bool    { return true }
func (c *Children) encode(e *encoder) { e.text(c.Path); e.bool(c.Watch) }
func (c *Children) decode(d *decoder) { c.Names = d.texts(); c.Stat = d.stat() }

// Sync has the server catch up with the leader before it answers what follows.
type Sync struct {
	Answer
	Path string
}

func (*Sync) code() int32         { return opSync }
func (*Sync) repeatable() bool    { return true }
func (s *Sync) encode(e *encoder) { e.text(s.Path) }
func (*Sync) decode(d *decoder)   { d.text() }

// Create creates a znode.
type Create struct {
	Answer
	Path string
	Data []byte
	ACL  []ACL
	Mode Mode

	// Created is the path with the number of a sequential znode.
	Created string
}

func (c *Create) code() int32 {
	if c.Mode == Container {
		return opCreateContainer
	}
	return opCreate
}

func (*Create) repeatable() bool { return false }

func (c *Create) encode(e *encoder) {
	e.text(c.Path)
	e.bytes(c.Data)
	e.acl(c.ACL)
	e.int32(int32(c.Mode))
}

func (c *Create) decode(d *decoder) { c.Created = d.text() }

// Set changes a znode's data.
type Set struct {
	Answer
	Path string
	Data []byte
	// Version is the one that the znode must have, -1 for any.
	Version int32

	Stat Stat
}

func (*Set) code() int32         { return opSetData }
func (*Set) repeatable() bool    { return false }
func (s *Set) encode(e *encoder) { e.text(s.Path); e.bytes(s.Data); e.int32(s.Version) }
func (s *Set) decode(d *decoder) { s.Stat = d.stat() }

// Delete removes a znode.
type Delete struct {
	Answer
	Path string
	// Version is the one that the znode must have, -1 for any.
	Version int32
}

func (*Delete) code() int32         { return opDelete }
func (*Delete) repeatable() bool    { return false }
func (x *Delete) encode(e *encoder) { e.text(x.Path); e.int32(x.Version) }
func (*Delete) decode(*decoder)     {}

// removeWatches takes this connection's watches of one kind off a znode.
type removeWatches struct {
	Answer
	path string
	kind WatchKind
}

func (*removeWatches) code() int32         { return opRemoveWatches }
func (*removeWatches) repeatable() bool    { return false }
func (r *removeWatches) encode(e *encoder) { e.text(r.path); e.int32(int32(r.kind)) }
func (*removeWatches) decode(*decoder)     {}

// closing ends the session.
type closing struct{ Answer }

func (*closing) code() int32      { return opClose }
func (*closing) repeatable() bool { return false }
func (*closing) encode(*encoder)  {}
func (*closing) decode(*decoder)  {}
