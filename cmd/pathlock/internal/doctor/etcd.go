package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
)

// The oldest etcd that is maintained.
var oldestEtcd = []int{3, 5}

// manyRevisions is a history that nobody has shortened for some time: two for each lock.
const manyRevisions = 100_000

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
	e.etcdAlarms(ctx, about, client)
	e.etcdHistory(ctx, about, client)
	e.fine(about, "clock", "nothing goes by the clocks of the members or of this host")
	return serves
}

// remedy says what to change where a lock store, as it is shown, refuses to serve. An etcd without
// rights is the one that no other finding is about.
func remedy(shown string, err error) string {
	if errors.Is(err, rpctypes.ErrPermissionDenied) {
		return etcdGrant(shown)
	}
	return "see the other findings"
}

// etcdGrant says how to give the user the rights that locks need, for a store as it is shown.
func etcdGrant(shown string) string {
	prefix := etcdstore.DefaultPrefix
	_, rest, _ := strings.Cut(shown, "://")
	if _, name, ok := strings.Cut(rest, "/"); ok && name != "" {
		if plain, err := url.PathUnescape(name); err == nil {
			prefix = "/" + strings.TrimSuffix(plain, "/") + "/"
		}
	}
	return "as root of etcd, for a role of the user: etcdctl role grant-permission --prefix=true ROLE readwrite " + prefix
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
	switch {
	case status.Leader == 0:
		e.found(Problem, addr, "leader", "it knows no leader", "nothing is granted", "see that a majority of the members runs and reaches each other")
	case status.IsLearner:
		e.found(Advice, addr, "member", "it is a learner", "it does not count for a majority", "promote it once it has caught up: etcdctl member promote")
	default:
		e.fine(addr, "leader", "it knows the leader")
	}
	switch quota := status.DbSizeQuota; {
	case quota == 0:
		e.found(Advice, addr, "quota", fmt.Sprintf("%d MiB of an unknown quota are used", status.DbSize>>20), "a full member takes no writes", "see etcd_server_quota_backend_bytes in the member's metrics; etcd 3.6 tells it")
	case status.DbSize*10 >= quota*8:
		e.found(Warning, addr, "quota", fmt.Sprintf("%d of %d MiB are used, %d of them by data", status.DbSize>>20, quota>>20, status.DbSizeInUse>>20), "once it is full, nothing is granted", "compact and defragment (etcdctl compact, etcdctl defrag), or raise --quota-backend-bytes")
	default:
		e.fine(addr, "quota", "%d of %d MiB are used", status.DbSize>>20, quota>>20)
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
	e.identities = append(e.identities, identity{about, fmt.Sprintf("etcd cluster %x", list.Header.ClusterId)})
	voters := 0
	for _, m := range list.Members {
		if !m.IsLearner {
			voters++
		}
	}
	switch {
	case voters == 1 && e.members > 0:
		e.fine(about, "members", "there is one: the other members of the quorum stand in")
	case voters == 1:
		e.found(Warning, about, "members", "there is one member", "while it is down, nothing is granted; with its disk, all locks are lost", "run three members")
	case voters%2 == 0:
		e.found(Advice, about, "members", fmt.Sprintf("there are %d members", voters), "an even number outlives the loss of no more members than one less", "add one or remove one")
	case voters > len(client.Endpoints()):
		e.found(Advice, about, "members", fmt.Sprintf("there are %d members, and the URL names %d", voters, len(client.Endpoints())), "where those that it names are down, the cluster is not reached", "name all of them in the URL")
	default:
		e.fine(about, "members", "there are %d", voters)
	}
}

// etcdAlarms looks for alarms, with which etcd takes no writes.
func (e *exam) etcdAlarms(ctx context.Context, about string, client *clientv3.Client) {
	var alarms *clientv3.AlarmResponse
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		alarms, err = client.AlarmList(ctx)
		return err
	})
	switch {
	case err != nil:
		e.unknown(about, "alarms", err, "run the doctor as root of etcd")
	case len(alarms.Alarms) == 0:
		e.fine(about, "alarms", "there is none")
	default:
		for _, a := range alarms.Alarms {
			e.found(Problem, about, "alarms", fmt.Sprintf("member %x has the alarm %s", a.MemberID, a.Alarm), "the cluster takes no writes: nothing is granted", "NOSPACE: etcdctl compact, defrag, then alarm disarm; CORRUPT: replace the member")
		}
	}
}

// etcdHistory looks whether old revisions are removed: each acquisition and release is one.
func (e *exam) etcdHistory(ctx context.Context, about string, client *clientv3.Client) {
	var revision int64
	err := e.ask(ctx, func(ctx context.Context) error {
		answer, err := client.Get(ctx, "\x00pathlock-doctor", clientv3.WithCountOnly())
		if err != nil {
			return err
		}
		revision = answer.Header.Revision
		oldest := max(1, revision-manyRevisions)
		_, err = client.Get(ctx, "\x00pathlock-doctor", clientv3.WithCountOnly(), clientv3.WithRev(oldest))
		return err
	})
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		e.fine(about, "compaction", "at revision %d, old ones are gone", revision)
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		e.unknown(about, "compaction", err, "run the doctor as root of etcd")
	case err != nil:
		e.unknown(about, "compaction", err, "")
	case revision > manyRevisions:
		e.found(Warning, about, "compaction", fmt.Sprintf("at revision %d, those of the last %d are still there", revision, manyRevisions), "the history fills the quota, and then nothing is granted", "start the members with --auto-compaction-retention=1h")
	default:
		e.found(Advice, about, "compaction", fmt.Sprintf("at revision %d, all are still there", revision), "etcd does not tell whether it removes old ones by itself", "start the members with --auto-compaction-retention=1h, if they are not")
	}
}
