package redisserver

import (
	"strings"
	"testing"
	"time"
)

func TestProcessorTimeIsThatOfTheMainThread(t *testing.T) {
	info := strings.Join([]string{
		"# CPU",
		"used_cpu_sys:9.000000",
		"used_cpu_user:8.000000",
		"used_cpu_sys_children:7.000000",
		"used_cpu_sys_main_thread:0.500001",
		"used_cpu_user_main_thread:1.250003",
		"",
	}, "\r\n")
	got, err := parseCPU(info)
	if want := 1750004 * time.Microsecond; err != nil || got != want {
		t.Errorf("processor time is %v, %v, want %v", got, err, want)
	}
}

func TestProcessorTimeThatIsNotTold(t *testing.T) {
	for _, text := range []string{
		"",
		"used_cpu_user_main_thread:1.0\r\n",
		"used_cpu_user_main_thread:x\r\nused_cpu_sys_main_thread:1.0\r\n",
	} {
		if got, err := parseCPU(text); err == nil {
			t.Errorf("%q gives %v and no error", text, got)
		}
	}
}
