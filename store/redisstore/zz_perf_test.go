package redisstore
import ("testing";"fmt";"time";"strings")
func TestZZElsewhere(t *testing.T) {
	server := startServer(t)
	s := server.store()
	for _, n := range []int{0,1,10,100} {
		h := &halfway{t: t, s: s, tree: newTree(t), lease: long}
		h.held = nil
		a := ask(h.tree, x("/busy")); take(t, s, a)
		for range n { if got, _ := h.send(ask(h.tree, x("/busy")), long); got.status != "queued" { t.Fatal(got) } }
		req := ask(h.tree, x("/dir/suite/case"))
		for range 200 { take(t, s, req); release(t, s, req) }
		s.client.ConfigResetStat(t.Context())
		began := time.Now()
		const m = 3000
		for range m { take(t, s, req); release(t, s, req) }
		el := time.Since(began)/m
		info := s.client.Info(t.Context(), "commandstats").Val()
		for _, line := range strings.Split(info, "\r\n") { if strings.HasPrefix(line, "cmdstat_evalsha") { t.Log(fmt.Sprint(n), "wait elsewhere:", el, line[:70]) } }
	}
}
