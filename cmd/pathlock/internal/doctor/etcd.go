package doctor

import (
	"context"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// etcdRules say what the members of an etcd say. Older versions are no longer maintained.
var etcdRules = []rule{
	{"version", Warning, "old=yes", "etcd {version}", "it gets no more fixes", "update to 3.5 or later, one member after another"},
	{"version", Fine, "version!=", "etcd {version}", "", ""},

	{"members", Warning, "members=1 quorum=", "there is one member", "while it is down, nothing is granted; if its disk is lost, so are all locks", "run three members"},
	{"members", Fine, "members!=", "there are {members}", "", ""},
}

// etcd examines the members of an etcd.
func (e *exam) etcd(ctx context.Context, about string, client *clientv3.Client) {
	for _, endpoint := range client.Endpoints() {
		_, addr, _ := strings.Cut(endpoint, "://")
		status, err := answer(ctx, e, func(ctx context.Context) (*clientv3.StatusResponse, error) { return client.Status(ctx, endpoint) })
		if err != nil {
			e.found(Warning, addr, "member", "it does not answer: "+err.Error(), "if another one fails too, the rest may grant nothing",
				"start it, or take it out of the cluster and the URL")
			continue
		}
		e.judge(addr, facts{"version": status.Version, "old": flag(older(status.Version, "3.5"))}, etcdRules)
	}
	list, err := answer(ctx, e, func(ctx context.Context) (*clientv3.MemberListResponse, error) { return client.MemberList(ctx) })
	if err != nil {
		e.unknown(about, "members", err, "")
		return
	}
	e.judge(about, facts{"members": strconv.Itoa(len(list.Members)), "quorum": flag(e.members > 0)}, etcdRules)
}
