package redisserver

import (
	"strings"
	"testing"
	"time"
)

func TestCountersAreReadFromInfo(t *testing.T) {
	info := strings.Join([]string{
		"# Commandstats",
		"cmdstat_set:calls=5,usec=20,usec_per_call=4.00,rejected_calls=0,failed_calls=0",
		"cmdstat_evalsha:calls=7,usec=90,usec_per_call=12.86,rejected_calls=0,failed_calls=2",
		"cmdstat_eval:calls=1,usec=10,usec_per_call=10.00,rejected_calls=0,failed_calls=0",
		"cmdstat_client|tracking:calls=2,usec=3,usec_per_call=1.50,rejected_calls=0,failed_calls=0",
		"cmdstat_info:calls=99,usec=3,usec_per_call=1.50,rejected_calls=0,failed_calls=0",
		"",
	}, "\r\n")
	got, err := parseCounters(info)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Counters{Commands: 15, Scripts: 8, ScriptTime: 100 * time.Microsecond}); got != want {
		t.Errorf("counters are %+v, want %+v", got, want)
	}
	earlier := Counters{Commands: 5, Scripts: 6, ScriptTime: 40 * time.Microsecond}
	if want := (Counters{Commands: 10, Scripts: 2, ScriptTime: 60 * time.Microsecond}); got.Minus(earlier) != want {
		t.Errorf("the difference is %+v, want %+v", got.Minus(earlier), want)
	}
}

func TestInfoThatIsNotUnderstood(t *testing.T) {
	for _, line := range []string{"cmdstat_evalsha:calls=x,usec=1", "cmdstat_evalsha:usec=1", "cmdstat_evalsha:calls=1"} {
		if got, err := parseCounters(line); err == nil {
			t.Errorf("%q gives %+v and no error", line, got)
		}
	}
}
