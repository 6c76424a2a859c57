package anystore

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// quorumOption is what follows the members of a quorum, such as |timeout=1s. No member can be that,
// nor the end of one whose password has a |.
var quorumOption = regexp.MustCompile(`\|([a-z_]+)=([^:@/|]*)$`)

// openQuorum opens a store over an odd number of others.
func openQuorum(ctx context.Context, url string, o storeurl.Options) (_ *Store, err error) {
	taken := neturl.Values{}
	if option := quorumOption.FindStringSubmatch(url); option != nil {
		url = strings.TrimSuffix(url, option[0])
		if taken.Set(option[1], option[2]); option[1] != "timeout" {
			return nil, fmt.Errorf("a quorum has no option %q, only timeout", option[1])
		}
	}
	timeout, err := storeurl.TakeTimeout(taken)
	if err != nil {
		return nil, err
	}
	var members []*Store
	var stores []pathlock.Store
	var names []string
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(ctx, members))
		}
	}()
	urls := strings.Split(url, "|")
	for i, url := range urls {
		member, err := openMember(ctx, url, slices.Index(urls, url), i, o)
		if err != nil {
			return nil, fmt.Errorf("member %d of the quorum: %w", i+1, err)
		}
		members, stores, names = append(members, member), append(stores, member), append(names, member.String())
	}
	store, err := quorum.New(stores, quorum.WithNames(names...), quorum.WithTimeout(timeout))
	if err != nil {
		return nil, err
	}
	return &Store{Store: store, members: members, scheme: "quorum", where: "quorum:" + strings.Join(names, "|")}, nil
}

// openMember opens member i of a quorum. first is the first member with the same URL.
func openMember(ctx context.Context, url string, first, i int, o storeurl.Options) (*Store, error) {
	k, err := kindOf(url, o)
	switch {
	case strings.HasPrefix(url, "quorum:"), k.Alone:
		return nil, errors.New(storeurl.Scheme(url) + " cannot be a member of a quorum")
	case err != nil:
		return nil, err
	case first < i && storeurl.Scheme(url) != "memory": // of which two are different ones
		return nil, fmt.Errorf("it is member %d again, and would fail together with it", first+1)
	}
	return openKind(ctx, k, url, o)
}
