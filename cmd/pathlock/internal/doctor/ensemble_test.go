package doctor_test

import (
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/etcdstore"
)

func TestZooKeeper(t *testing.T) {
	t.Parallel()
	servers := testzk.StartEnsemble(t)
	url := "zk://" + servers.Hosts() + "/locks"
	r := locks(t, url)
	want(t, r, doctor.Fine, "trial", "handed over")
	servers.Follower().Kill()
	servers.Leader().Kill()
	for _, s := range servers.Servers {
		testserver.Await(t, "no server serves", func() bool { return s.Mode() == "" })
	}
	want(t, locks(t, url, time.Second), doctor.Problem, "answer", "nothing is granted")
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		r := locks(t, "etcd://"+testetcd.Start(t).Addr)
		want(t, r, doctor.Fine, "version", "etcd 3.")
		want(t, r, doctor.Warning, "members", "one member")
		want(t, r, doctor.Fine, "trial", "handed over")
	})
	t.Run("a user without rights", func(t *testing.T) {
		t.Parallel()
		server := testetcd.Start(t)
		store, err := etcdstore.Open("etcd://" + server.Addr)
		testerr.Must(t, err)
		defer func() { _ = store.Close(t.Context()) }()
		auth := store.(interface{ Client() *clientv3.Client }).Client()
		for _, user := range []string{"root", "locks"} {
			testerr.Must(t, testerr.Of(auth.UserAdd(t.Context(), user, "secret")))
			testerr.Must(t, testerr.Of(auth.RoleAdd(t.Context(), user)))
			testerr.Must(t, testerr.Of(auth.UserGrantRole(t.Context(), user, user)))
		}
		testerr.Must(t, testerr.Of(auth.AuthEnable(t.Context())))
		f := want(t, locks(t, "etcd://locks:secret@"+server.Addr), doctor.Problem, "service", "does not let the user")
		if !strings.Contains(f.Change, "readwrite") || strings.Contains(f.Change, "secret") {
			t.Errorf("the change is %q", f.Change)
		}
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		members := testetcd.StartCluster(t, 3)
		url := "etcd://" + strings.Join(members.Addrs(), ",")
		r := locks(t, url)
		want(t, r, doctor.Fine, "members", "there are 3")
		members[2].Kill()
		want(t, locks(t, url, 10*time.Second), doctor.Warning, "member", members[2].Addr) // it may have been the leader
	})
}

// A minority of a quorum's members may have problems, and a majority may not.
func TestQuorum(t *testing.T) {
	t.Parallel()
	var servers []*testredis.Server
	var urls []string
	for range 3 {
		server := testredis.Start(t, testredis.Redis, "--appendonly", "yes")
		servers, urls = append(servers, server), append(urls, urlOf(server))
	}
	all := "quorum:" + strings.Join(urls, "|")
	r := locks(t, all)
	want(t, r, doctor.Fine, "trial", "the quorum")
	want(t, r, doctor.Fine, "replicas", "stand in")
	servers[2].Kill()
	r = locks(t, all)
	want(t, r, doctor.Warning, "answer", servers[2].Addr)
	want(t, r, doctor.Warning, "members", "0 more members may fail")
	want(t, r, doctor.Fine, "trial", "the quorum")
	if r.Unanswered() || r.Count(doctor.Problem) > 0 {
		t.Error("one of three members is held to be all that matters")
	}
	servers[0].Kill()
	r = locks(t, all, time.Second)
	want(t, r, doctor.Problem, "members", "2 of 3 have problems: [1 3]")
	if !r.Unanswered() {
		t.Error("the report does not say that the quorum does not answer")
	}
}
