package testredis

// Move is the move of one slot from the node that serves it to another, step by step as redis-cli
// does it: the two nodes are told, the keys go over one by one, and the slot is given its new node.
type Move struct {
	cluster  *Cluster
	slot     int
	from, to *Server
}

// BeginMove tells both nodes that the slot of a key is on its way. From then on the old node sends
// those who ask for a key that it does not have to the new one (ASK), and requests for several keys
// of which it has some are told to try again.
func (c *Cluster) BeginMove(key string, to *Server) *Move {
	c.t.Helper()
	m := &Move{cluster: c, slot: c.slot(key), from: c.Primary(key), to: to}
	to.Do("CLUSTER", "SETSLOT", m.slot, "IMPORTING", m.from.id())
	m.from.Do("CLUSTER", "SETSLOT", m.slot, "MIGRATING", to.id())
	return m
}

// Keys returns the keys of the slot that the old node still has.
func (m *Move) Keys() []string {
	m.cluster.t.Helper()
	reply, _ := m.from.Do("CLUSTER", "GETKEYSINSLOT", m.slot, 1000).([]any)
	var keys []string
	for _, k := range reply {
		key, _ := k.(string)
		keys = append(keys, key)
	}
	return keys
}

// MoveKey sends one key over.
func (m *Move) MoveKey(key string) {
	m.cluster.t.Helper()
	m.from.Do("MIGRATE", m.to.host(), m.to.port(), key, 0, 5000)
}

// MoveKeys sends over all keys that the old node still has.
func (m *Move) MoveKeys() {
	m.cluster.t.Helper()
	for _, key := range m.Keys() {
		m.MoveKey(key)
	}
}

// Finish gives the slot to the new node, and tells all primaries: those who ask the old one are
// sent on (MOVED).
func (m *Move) Finish() {
	m.cluster.t.Helper()
	id := m.to.id()
	m.to.Do("CLUSTER", "SETSLOT", m.slot, "NODE", id)
	m.from.Do("CLUSTER", "SETSLOT", m.slot, "NODE", id)
	for _, s := range m.cluster.running() {
		if s != m.to && s != m.from && s.myself().is("master") {
			s.Do("CLUSTER", "SETSLOT", m.slot, "NODE", id)
		}
	}
}
