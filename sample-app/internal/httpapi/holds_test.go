package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// news is what a window asks for once a second.
type news struct {
	Revision uint32
	httpapi.Locks
}

func (p *pair) news(api *apitest.API) news {
	p.Helper()
	return apitest.Made[news](p, api, "GET", p.path("/api/plans/{plan}/locks"), "")
}

// Each claim has its suite, however that is spelt, and of a plan with a thousand others no more is
// read than a few rows.
func TestPlanLocks_FindsSuitesWithoutReadingThePlan(t *testing.T) {
	lockers(t, func(p *pair) {
		var many []string
		for i := range 1000 {
			many = append(many, fmt.Sprintf(`"d/Part %d"`, i))
		}
		p.is(p.here, `POST /api/plans/{plan}/import {"suites":[`+strings.Join(many, ",")+`]}`, "", http.StatusOK, "")
		tokens := map[string]string{}
		parents := map[string]string{"Login Tests": "a", "Ärger & STRASSE": "a", "ﬁsh": "a", "测试": "a", "Below": "Login Tests", "Part X": "d", "deep": "Part X"}
		for _, name := range []string{"Login Tests", "Ärger & STRASSE", "ﬁsh", "测试", "Below", "Part X", "deep"} {
			body := fmt.Sprintf(`{"parent_id":%d,"name":%q}`, p.ids[parents[name]], name)
			p.ids[name] = apitest.Made[plans.Suite](p, p.here, "POST", p.path("/api/plans/{plan}/suites"), body).ID
		}
		for _, name := range []string{"Ärger & STRASSE", "ﬁsh", "测试", "Below", "deep"} {
			tokens[name], _ = p.locked(p.here.Do(p, "POST", fmt.Sprintf("/api/suites/%d/lock", p.ids[name]), fmt.Sprintf(`{"for":"10m","note":%q}`, name)), http.StatusCreated)
		}
		// The lock keeps the old name as well, which is in the suite above.
		p.is(p.here, fmt.Sprintf(`PATCH /api/suites/%d {"name":"New"}`, p.ids["deep"]), tokens["deep"], http.StatusOK, "")

		var rows atomic.Int64
		count := func(tx *gorm.DB) { rows.Add(max(tx.RowsAffected, 0)) }
		testerr.Must(p, p.there.DB.Read.Callback().Query().After("gorm:query").Register("count", count))
		got := p.news(p.there)
		if n := rows.Load(); n == 0 || n > 50 {
			p.Errorf("%d rows were read", n)
		}
		found := map[string]bool{}
		for _, h := range got.Holders {
			for _, c := range h.Claims {
				found[fmt.Sprintf("%s: %d %t", h.What, c.SuiteID, c.Exact)] = true
			}
		}
		want := []string{fmt.Sprintf("deep: %d false", p.ids["Part X"])}
		for name := range tokens {
			want = append(want, fmt.Sprintf("%s: %d true", name, p.ids[name]))
		}
		for _, w := range want {
			if !found[w] {
				p.Errorf("%s is not among %v", w, found)
			}
		}
	})
}

// The revision is another one after each change of the tree or of the plan's name, by whichever
// instance, and after nothing else.
func TestRevision_ChangesWithTheTreeAlone(t *testing.T) {
	lockers(t, func(p *pair) {
		changes := []struct {
			request string
			status  int
			changes bool
		}{
			{`POST /api/plans/{plan}/suites {"parent_id":{a},"name":"new"}`, 201, true},
			{`PATCH /api/suites/{b} {"name":"B"}`, 200, true},
			{`POST /api/suites/{c}/move {"parent_id":{d}}`, 200, true},
			{`POST /api/suites/{b}/copy {"parent_id":{d},"name":"copy"}`, 201, true},
			{`DELETE /api/suites/{c}`, 204, true},
			{`POST /api/recycle-bin/{item}/restore`, 200, true},
			{`POST /api/plans/{plan}/import {"suites":["x/y"]}`, 200, true},
			{`PATCH /api/plans/{plan} {"name":"other name"}`, 200, true},
			{`POST /api/plans/{plan}/import {"suites":["x/y"]}`, 200, false},
			{`PATCH /api/cases/{k} {"body":"x"}`, 200, false},
			{`POST /api/plans/{other}/suites {"parent_id":{oroot},"name":"new"}`, 201, false},
			{`PATCH /api/suites/{b} {"name":"new"}`, 409, false},
			{`POST /api/suites/{a}/lock {"for":"1m"}`, 201, false},
		}
		before := p.news(p.here).Revision
		for _, c := range changes {
			if strings.Contains(c.request, "{item}") {
				bin := apitest.Made[struct{ Items []plans.RecycledItem }](p, p.here, "GET", p.path("/api/plans/{plan}/recycle-bin"), "")
				p.ids["item"] = bin.Items[0].ID
			}
			p.is(p.there, c.request, "", c.status, "")
			now := p.news(p.here).Revision
			if tree := apitest.Made[news](p, p.here, "GET", p.path("/api/plans/{plan}/tree"), ""); tree.Revision != now {
				p.Errorf("%s: the tree's revision is %d, the news' %d", c.request, tree.Revision, now)
			}
			if (now != before) != c.changes {
				p.Errorf("%s: the revision goes from %d to %d", c.request, before, now)
			}
			before = now
		}
	})
}
