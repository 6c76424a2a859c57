package doctor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/testetcd"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
	"github.com/pathlock-go/pathlock/store/etcdstore"
)

func TestZooKeeper(t *testing.T) {
	t.Parallel()
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		r := locks(t, "zk://"+testzk.Start(t).Addr+"/locks", doctor.Options{})
		want(t, r, doctor.Fine, "version", "standalone")
		want(t, r, doctor.Warning, "ensemble", "alone")
		want(t, r, doctor.Fine, "trial", "handed over")
	})
	t.Run("ensemble", func(t *testing.T) {
		t.Parallel()
		servers := testzk.StartEnsemble(t)
		url := "zk://" + servers.Hosts() + "/locks"
		r := locks(t, url, doctor.Options{})
		want(t, r, doctor.Fine, "ensemble", "3 servers")
		sound(t, r)
		follower := servers.Follower()
		follower.Kill()
		want(t, locks(t, url, doctor.Options{}), doctor.Warning, "server", follower.Addr)
		servers.Leader().Kill()
		for _, s := range servers.Servers {
			testserver.Await(t, "no server serves", func() bool { return s.Mode() == "" })
		}
		want(t, locks(t, url, doctor.Options{Patience: time.Second}), doctor.Problem, "answer", "nothing is granted")
	})
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		r := locks(t, "etcd://"+testetcd.Start(t).Addr, doctor.Options{})
		want(t, r, doctor.Fine, "version", "etcd 3.")
		want(t, r, doctor.Warning, "members", "one member")
		want(t, r, doctor.Fine, "alarms", "none")
		want(t, r, doctor.Fine, "quota", "MiB")
		want(t, r, doctor.Advice, "compaction", "all are still there")
		want(t, r, doctor.Fine, "trial", "handed over")
	})
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		server := testetcd.Start(t, "--quota-backend-bytes", "20971520")
		store, err := etcdstore.Open("etcd://" + server.Addr)
		must(t, err)
		defer func() { _ = store.Close(t.Context()) }()
		megabyte := strings.Repeat("x", 1<<20)
		for err = nil; err == nil; { // until the quota is used up
			_, err = store.Client().Put(t.Context(), "full/"+time.Now().String(), megabyte)
		}
		url := "etcd://" + server.Addr
		r := locks(t, url, doctor.Options{})
		want(t, r, doctor.Problem, "alarms", "NOSPACE")
		want(t, r, doctor.Warning, "quota", "of 20 MiB")
		want(t, r, doctor.Problem, "service", "is out of space")
	})
	t.Run("a user without rights", func(t *testing.T) {
		t.Parallel()
		server := testetcd.Start(t)
		store, err := etcdstore.Open("etcd://" + server.Addr)
		must(t, err)
		defer func() { _ = store.Close(t.Context()) }()
		auth := store.Client()
		for _, user := range []string{"root", "locks"} {
			_, err := auth.UserAdd(t.Context(), user, "secret")
			must(t, err)
			_, err = auth.RoleAdd(t.Context(), user)
			must(t, err)
			_, err = auth.UserGrantRole(t.Context(), user, user)
			must(t, err)
		}
		_, err = auth.AuthEnable(t.Context())
		must(t, err)
		for url, prefix := range map[string]string{"": "/pathlock/", "/shop/locks": "/shop/locks/"} {
			f := want(t, locks(t, "etcd://locks:secret@"+server.Addr+url, doctor.Options{}), doctor.Problem, "service", "does not let the user")
			if !strings.HasSuffix(f.Change, " readwrite "+prefix) {
				t.Errorf("the change is %q", f.Change)
			}
		}
	})
	t.Run("compacted", func(t *testing.T) {
		t.Parallel()
		server := testetcd.Start(t)
		store, err := etcdstore.Open("etcd://" + server.Addr)
		must(t, err)
		defer func() { _ = store.Close(t.Context()) }()
		put, err := store.Client().Put(t.Context(), "x", "y")
		must(t, err)
		_, err = store.Client().Compact(t.Context(), put.Header.Revision)
		must(t, err)
		want(t, locks(t, "etcd://"+server.Addr, doctor.Options{}), doctor.Fine, "compaction", "old ones are gone")
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		members := testetcd.StartCluster(t, 3)
		url := "etcd://" + strings.Join(members.Addrs(), ",")
		r := locks(t, url, doctor.Options{})
		want(t, r, doctor.Fine, "members", "there are 3")
		sound(t, r)
		want(t, locks(t, "etcd://"+members.Addrs()[0], doctor.Options{}), doctor.Advice, "members", "the URL names 1")
		members[2].Kill()
		want(t, locks(t, url, doctor.Options{Patience: 10 * time.Second}), doctor.Warning, "member", members[2].Addr) // it may have been the leader
	})
}

// Members of a quorum that fail together are found.
func TestQuorum(t *testing.T) {
	t.Parallel()
	var servers []*testredis.Server
	for range 3 {
		servers = append(servers, testredis.Start(t, testredis.Redis, "--appendonly", "yes"))
	}
	// The names of one host are different hosts to the doctor.
	second := strings.Replace(urlOf(servers[1]), "127.0.0.1", "localhost", 1)
	r := locks(t, "quorum:"+urlOf(servers[0])+"|"+second+"|sqlite://"+t.TempDir()+"/x", doctor.Options{})
	want(t, r, doctor.Fine, "independence", "different servers")
	want(t, r, doctor.Warning, "tables", "there is no such file yet")

	all := "quorum:" + urlOf(servers[0]) + "|" + second + "|" + urlOf(servers[2])
	r = locks(t, all, doctor.Options{})
	want(t, r, doctor.Warning, "independence", "on one host")
	want(t, r, doctor.Fine, "trial", "the quorum")
	want(t, r, doctor.Fine, "replicas", "stand in")
	for _, f := range r.Findings {
		if strings.Contains(f.Change, "run a replica") {
			t.Errorf("a member is to become what fails over: %s", f.Change)
		}
	}
	want(t, locks(t, all, doctor.Shifted(servers[2].Addr, time.Minute)), doctor.Problem, "clocks", servers[2].Addr)

	twice := "quorum:" + urlOf(servers[0]) + "|" + second + "|redis://" + servers[0].Addr + "/1"
	want(t, locks(t, twice, doctor.Options{}), doctor.Problem, "independence", "are one server")

	servers[2].Kill()
	r = locks(t, all, doctor.Options{})
	want(t, r, doctor.Warning, "answer", servers[2].Addr)
	want(t, r, doctor.Warning, "members", "until one more member fails")
	want(t, r, doctor.Fine, "trial", "the quorum") // a majority serves
	if r.Unanswered() || r.Count(doctor.Problem) > 0 {
		t.Error("one of three members is held to be all that matters")
	}
	for _, f := range r.Findings {
		if strings.Contains(f.Means, "nothing is granted") {
			t.Errorf("%s: %s: %s", f.About, f.Check, f.Means)
		}
	}
	servers[0].Pause()
	r = locks(t, all, doctor.Options{Patience: time.Second})
	want(t, r, doctor.Problem, "members", "2 of 3 have problems: [1 3]")
	if !r.Unanswered() {
		t.Error("the report does not say that the quorum does not answer")
	}
}

// A single server is what a quorum's members are to be, whatever they are.
func TestMembersThatAreAlone(t *testing.T) {
	t.Parallel()
	etcd, zk, redis := testetcd.Start(t), testzk.Start(t), testredis.Start(t, testredis.Redis, "--appendonly", "yes")
	r := locks(t, "quorum:etcd://"+etcd.Addr+"|zk://"+zk.Addr+"|"+urlOf(redis), doctor.Options{})
	want(t, r, doctor.Fine, "members", "stand in")
	want(t, r, doctor.Fine, "ensemble", "stand in")
	want(t, r, doctor.Fine, "replicas", "stand in")
}
