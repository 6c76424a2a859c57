package anystore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// member is one of a quorum's stores.
type member struct {
	kind
	url string
}

// cutOption cuts the only option of a quorum off, which follows its members: |timeout=1s.
func cutOption(url string) (members, option string) {
	if i := strings.LastIndexByte(url, '|'); i >= 0 && quorumOption.MatchString(url[i+1:]) {
		return url[:i], url[i+1:]
	}
	return url, ""
}

// quorumOption is what no member can be, nor the end of one whose password has a |.
var quorumOption = regexp.MustCompile(`^[a-z_]+=[^:@/]*$`)

// membersOf returns the members that the URL of a quorum names.
func (o options) membersOf(url string) ([]member, error) {
	var all []member
	url, option := cutOption(url)
	if name, _, _ := strings.Cut(option, "="); option != "" && name != "timeout" {
		return nil, fmt.Errorf("a quorum has no option %q, only timeout", name)
	}
	for i, url := range strings.Split(strings.TrimPrefix(url, "quorum:"), "|") {
		k, err := o.kindOf(url)
		switch {
		case err != nil:
			return nil, inMember(i, err)
		case k.alone:
			return nil, inMember(i, errors.New(schemeOf(url)+" cannot be a member of a quorum"))
		}
		all = append(all, member{k, url})
	}
	return all, nil
}

func inMember(i int, err error) error { return fmt.Errorf("member %d of the quorum: %w", i+1, err) }

// showMembers shows the URLs of all members.
func (o options) showMembers(url string) string {
	all, err := o.membersOf(url)
	if err != nil {
		return "quorum:"
	}
	return "quorum:" + strings.Join(shown(all), "|")
}

func shown(members []member) []string {
	urls := make([]string, len(members))
	for i, m := range members {
		urls[i] = m.show(m.url)
	}
	return urls
}

// secureMembers puts one password into the URLs of all members.
func (o options) secureMembers(url, password string) (string, error) {
	all, err := o.membersOf(url)
	if err != nil {
		return "", err
	}
	urls := make([]string, len(all))
	for i, m := range all {
		if urls[i], err = m.secure(m.url, password); err != nil {
			return "", inMember(i, err)
		}
	}
	if _, option := cutOption(url); option != "" {
		urls = append(urls, option)
	}
	return "quorum:" + strings.Join(urls, "|"), nil
}

// openQuorum opens a store over an odd number of others.
func openQuorum(ctx context.Context, url string, o options) (_ *Store, err error) {
	all, err := o.membersOf(url)
	if err != nil {
		return nil, err
	}
	var opened []*Store
	var stores []pathlock.Store
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(ctx, opened))
		}
	}()
	for i, m := range all {
		// Two stores in memory are different ones.
		first := slices.IndexFunc(all, func(other member) bool { return other.url == m.url })
		if first < i && schemeOf(m.url) != "memory" {
			return nil, inMember(i, fmt.Errorf("it is member %d again, and fails with that one", first+1))
		}
		store, err := m.openStore(ctx, m.url, o)
		if err != nil {
			return nil, inMember(i, err)
		}
		opened, stores = append(opened, store), append(stores, store)
	}
	_, option := cutOption(url)
	_, taken := storeurl.Cut("?"+option, "timeout")
	timeout, err := storeurl.TakeTimeout(taken)
	if err != nil {
		return nil, err
	}
	store, err := quorum.New(stores, quorum.WithNames(shown(all)...), quorum.WithTimeout(timeout))
	if err != nil {
		return nil, err
	}
	return &Store{Store: store, members: opened}, nil
}
