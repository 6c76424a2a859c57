package httpapi_test

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// The more a change locks, the more of what others hold is in its way.
func TestRuleSaysHowMuchAChangeLocks(t *testing.T) {
	for _, tt := range []struct {
		held  string // what somebody else has locked
		in    map[httpapi.Rule]int
		asked string
	}{
		{"x", map[httpapi.Rule]int{"": 201, httpapi.NameSlots: 201, httpapi.ParentExclusive: 423, httpapi.WholePlan: 423}, `POST /api/plans/{plan}/suites {"parent_id":{d},"name":"n"}`},
		{"a", map[httpapi.Rule]int{"": 201, httpapi.NameSlots: 201, httpapi.ParentExclusive: 201, httpapi.WholePlan: 423}, `POST /api/plans/{plan}/suites {"parent_id":{d},"name":"n"}`},
		{"c", map[httpapi.Rule]int{"": 201, httpapi.NameSlots: 201, httpapi.ParentExclusive: 423, httpapi.WholePlan: 423}, `POST /api/suites/{b}/cases {"name":"n"}`},
		{"d", map[httpapi.Rule]int{"": 200, httpapi.NameSlots: 200, httpapi.ParentExclusive: 200, httpapi.WholePlan: 423}, `PATCH /api/suites/{b} {"name":"e"}`},
	} {
		for rule, status := range tt.in {
			t.Run(fmt.Sprint(tt.asked, " beside ", tt.held, " by ", rule), func(t *testing.T) {
				api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true, Rule: rule, Wait: -1})
				ids := fixture(t, api, "rule")
				ids["x"] = apitest.Made[plans.Suite](t, api, "POST", expand("/api/plans/{plan}/suites", ids), expand(`{"parent_id":{d},"name":"x"}`, ids)).ID
				is(t, api, ids, `POST /api/suites/{`+tt.held+`}/lock {"for":"1m"}`, 201, "")
				is(t, api, ids, tt.asked, status, "")
			})
		}
	}
}
