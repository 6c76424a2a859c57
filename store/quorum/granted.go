package quorum

import "time"

// granted are the members that have granted a request of this process. A call that repeats the
// request is for them, so that it gets the same fence.
type granted struct {
	members []int
	// expiry forgets them when the lease has passed: what has been renewed or transferred since is
	// not asked for again.
	expiry *time.Timer
}

// remember notes who has granted a request.
func (s *Store) remember(k key, members []int, lease time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.granted[k]; known != nil {
		known.expiry.Reset(lease)
		return
	}
	s.granted[k] = &granted{members, time.AfterFunc(lease, func() { s.forget(k) })}
}

// forget notes that a grant has been given back, or that its lease has passed.
func (s *Store) forget(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.granted[k]; known != nil {
		known.expiry.Stop()
		delete(s.granted, k)
	}
}

// whoGranted returns who has granted a request before, nil if nobody is known to have.
func (s *Store) whoGranted(k key) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.granted[k]; known != nil {
		return known.members
	}
	return nil
}
