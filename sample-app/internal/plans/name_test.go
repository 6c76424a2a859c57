package plans_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

func TestCheckName(t *testing.T) {
	tests := []struct {
		what, name string
		ok         bool
	}{
		{"one character", "a", true},
		{"Chinese", "登录测试", true},
		{"a backslash", `a\b`, true},
		{"255 characters of four bytes", strings.Repeat("😀", 255), true},
		{"256 characters", strings.Repeat("a", 256), false},
		{"nothing", "", false},
		{"a slash", "a/b", false},
		{"a dot", ".", false},
		{"two dots", "..", false},
		{"a leading space", " a", false},
		{"a trailing space", "a ", false},
		{"NUL", "a\x00b", false},
		{"a C1 control", "a\u0085b", false},
		{"DEL", "a\x7f", false},
		{"invalid UTF-8", "a\xff", false},
	}
	for _, tt := range tests {
		if err := plans.CheckName(tt.name); (err == nil) != tt.ok {
			t.Errorf("%s: CheckName(%q) = %v, want ok = %t", tt.what, tt.name, err, tt.ok)
		}
	}
}
