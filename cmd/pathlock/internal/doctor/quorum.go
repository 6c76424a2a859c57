package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/store/anystore"
)

// identity says which server a store is on: two with one text are one server.
type identity struct{ about, server string }

// quorum examines the members of a quorum, and whether they fail one by one.
func (e *exam) quorum(ctx context.Context, url, password string) error {
	const about = "the quorum"
	members := strings.Split(strings.TrimPrefix(url, "quorum:"), "|")
	stores, end, err := openTwo(ctx, url, password)
	switch {
	case errors.Is(err, anystore.ErrURL):
		return err
	case err != nil:
		e.unanswered(about, err)
		return nil
	}
	defer end()
	e.members = len(members)
	ends := make([]int, len(members))
	for i, member := range members {
		if err := e.locks(ctx, member, password); err != nil {
			return fmt.Errorf("member %d of the quorum: %w", i+1, err)
		}
		if scheme, _, _ := strings.Cut(member, ":"); strings.HasSuffix(scheme, "+sentinel") || strings.HasSuffix(scheme, "+cluster") {
			e.found(Warning, about, "members", fmt.Sprintf("member %d fails over", i+1), "a fail-over that forgets a grant counts as a member that lies, and a majority may then grant twice", "make each member a single server, with persistence")
		}
		ends[i] = len(e.findings)
	}
	e.judgeMembers(about, ends)
	e.judgeIndependence(about, strings.TrimPrefix(stores[0].String(), "quorum:"))
	e.judgeApart(e.firsts, "a majority's fences wait for the members' clocks, and leases end at different times")
	// The methods of members make their tables, so the trial is for those whose tables are there.
	if !e.has("tables", Warning) {
		e.probe(ctx, about, stores[0].Store, stores[1].Store)
	}
	return nil
}

// judgeMembers says what problems of members mean for the quorum. ends are where the findings of
// each member end. What is a problem of a store by itself is none of a minority of members.
func (e *exam) judgeMembers(about string, ends []int) {
	var failing []int
	begin := 0
	for i, end := range ends {
		if slices.ContainsFunc(e.findings[begin:end], func(f Finding) bool { return f.Level == Problem }) {
			failing = append(failing, i+1)
		}
		begin = end
	}
	n, bad := len(ends), len(failing)
	spare := (n-1)/2 - bad
	if bad == 0 || spare < 0 {
		if bad > 0 {
			e.found(Problem, about, "members", fmt.Sprintf("%d of %d have problems: %v", bad, n, failing), "no majority is sound: nothing is granted, or locks are lost", "mend the members: see their findings")
		}
		return
	}
	for i := range e.findings {
		f := &e.findings[i]
		f.Means = strings.ReplaceAll(f.Means, "nothing is granted", "this member grants nothing")
		f.Level = min(f.Level, Warning)
	}
	means := "locks are granted, until one more member fails"
	if spare > 0 {
		means = fmt.Sprintf("locks are granted, and %d more members may fail", spare)
	}
	e.found(Warning, about, "members", fmt.Sprintf("%d of %d have problems: %v", bad, n, failing), means, "mend the members: see their findings")
}

// judgeIndependence looks for members that fail together.
func (e *exam) judgeIndependence(about, shown string) {
	sound := true
	for i, a := range e.identities {
		for _, b := range e.identities[i+1:] {
			if a.server == b.server {
				sound = false
				e.found(Problem, about, "independence", a.about+" and "+b.about+" are one server", "when it fails, two members fail: a minority's loss may be a majority's", "give each member a server of its own")
			}
		}
	}
	hosts := make(map[string]string)
	for member := range strings.SplitSeq(shown, "|") {
		host := hostOf(member)
		if other := hosts[host]; host != "" && other != "" {
			sound = false
			e.found(Warning, about, "independence", other+" and "+member+" are on one host", "when the host fails, both fail", "put each member on a host of its own")
		}
		hosts[host] = member
	}
	if sound {
		e.fine(about, "independence", "the members are on different servers and hosts")
	}
}

// hostOf returns the host of a member that has one, "" for others.
func hostOf(member string) string {
	_, rest, _ := strings.Cut(member, "://")
	if strings.HasPrefix(member, "sqlite:") {
		return "this host"
	}
	rest, _, _ = strings.Cut(rest, "/")
	if strings.Contains(rest, ",") {
		return ""
	}
	if host, _, err := net.SplitHostPort(rest); err == nil {
		return host
	}
	return rest
}

// has reports whether there is a finding of a check of at least that level.
func (e *exam) has(check string, level Level) bool {
	for _, f := range e.findings {
		if f.Check == check && f.Level >= level {
			return true
		}
	}
	return false
}
