package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
)

// The oldest etcd that is maintained.
var oldestEtcd = [2]int{3, 5}

// etcd examines the members of an etcd. It reports whether locks can be tried out.
func (e *exam) etcd(ctx context.Context, about string, store *etcdstore.Store) bool {
	serves := true
	if err := e.ask(ctx, store.Ping); err != nil {
		if !errors.Is(err, rpctypes.ErrNoSpace) && !errors.Is(err, rpctypes.ErrNoLeader) && !errors.Is(err, rpctypes.ErrPermissionDenied) {
			e.unanswered(about, err)
			return false
		}
		serves = false
		e.found(Problem, about, "service", err.Error(), "the lock store "+anystore.Trouble(err)+": nothing is granted", remedy(about, err))
	}
	client := store.Client()
	for _, endpoint := range client.Endpoints() {
		e.etcdMember(ctx, client, endpoint)
	}
	e.etcdMembers(ctx, about, client)
	return serves
}

// remedy says what to change where a lock store, as it is shown, refuses to serve. An etcd without
// rights is the one that no other finding is about.
func remedy(shown string, err error) string {
	if errors.Is(err, rpctypes.ErrPermissionDenied) {
		return "as root of etcd, grant a role of the user readwrite on the prefix of " + shown + ": " + etcdstore.DefaultPrefix + " if it names none"
	}
	return "see the other findings"
}

// etcdMember examines one member.
func (e *exam) etcdMember(ctx context.Context, client *clientv3.Client, endpoint string) {
	addr := strings.TrimPrefix(strings.TrimPrefix(endpoint, "http://"), "https://")
	var status *clientv3.StatusResponse
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		status, err = client.Status(ctx, endpoint)
		return err
	})
	if err != nil {
		e.found(Warning, addr, "member", fmt.Sprintf("it does not answer: %v", err), "one more that does not may keep the others from granting anything", "start it, or take it out of the cluster and the URL")
		return
	}
	if older(status.Version, oldestEtcd) {
		e.found(Warning, addr, "version", "etcd "+status.Version, "it gets no more corrections", "update to 3.5 or later, one member after the other")
	} else {
		e.fine(addr, "version", "etcd %s", status.Version)
	}
}

// etcdMembers looks at the cluster's size.
func (e *exam) etcdMembers(ctx context.Context, about string, client *clientv3.Client) {
	var list *clientv3.MemberListResponse
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		list, err = client.MemberList(ctx)
		return err
	})
	if err != nil {
		e.unknown(about, "members", err, "")
		return
	}
	voters := 0
	for _, m := range list.Members {
		if !m.IsLearner {
			voters++
		}
	}
	switch {
	case voters == 1 && e.members == 0:
		e.found(Warning, about, "members", "there is one member", "while it is down, nothing is granted; with its disk, all locks are lost", "run three members")
	default:
		e.fine(about, "members", "there are %d", voters)
	}
}
