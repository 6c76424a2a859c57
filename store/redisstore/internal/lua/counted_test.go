package lua

import "testing"

// TestCounted: what was refused does not count, and does not undo what was sent before.
func TestCounted(t *testing.T) {
	for _, tt := range []struct {
		name string
		what string // w: written, r: the last one was refused
		want bool
	}{
		{"once", "w", false},
		{"twice", "ww", true},
		{"refused, then sent", "wrw", false},
		{"a reply lost, then refused by a server that does not know the script, then sent", "wwrw", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &Counted{Value: "owner"}
			for _, step := range tt.what {
				if step == 'r' {
					c.refused()
					continue
				}
				if written, err := c.MarshalBinary(); err != nil || string(written) != "owner" {
					t.Fatalf("written %q, error %v", written, err)
				}
			}
			if got := c.Again(); got != tt.want {
				t.Errorf("sent more than once: %v, want %v", got, tt.want)
			}
		})
	}
}
