package treeschema

import "testing"

func TestTooOld(t *testing.T) {
	for _, c := range []struct {
		version string
		ok      bool
	}{
		{"8.0.17", true},
		{"8.0.36-0ubuntu0.22.04.1", true},
		{"8.4.0", true},
		{"9.1.0", true},
		{"8.0.16", false},
		{"8.0.11-TiDB-v7.5.0", false},
		{"5.7.44-log", false},
		{"10.6.0-MariaDB", true},
		{"10.11.6-MariaDB-0+deb12u1", true},
		{"5.5.5-10.6.16-MariaDB-log", true},
		{"10.5.23-MariaDB", false},
		{"", false},
	} {
		f, ok := mysql{}.version(c.version)
		if ok != c.ok || !ok && (f.Severity != Unsafe || f.Check != Version) {
			t.Errorf("%q: %v, %t, want %t", c.version, f, ok, c.ok)
		}
	}
	if _, ok := tooOld("PostgreSQL", "13.14 (Debian 13.14-1)", []int{13}); !ok {
		t.Error("PostgreSQL 13 is too old")
	}
	if _, ok := tooOld("PostgreSQL", "12.18", []int{13}); ok {
		t.Error("PostgreSQL 12 is not too old")
	}
	if _, ok := tooOld("SQLite", "3.35.0", []int{3, 35}); !ok {
		t.Error("SQLite 3.35 is too old")
	}
}

func TestFreeName(t *testing.T) {
	p := &physical{names: map[string]bool{"suites_path": true, "suites_path2": true}}
	long := "tests_of_a_very_long_table_name_that_leaves_no_room_für_more"
	for _, c := range []struct{ table, want, name string }{
		{"suites", "sibling", "suites_sibling"},
		{"public.suites", "sibling", "suites_sibling"},
		{"suites", "path", "suites_path3"},
		{long, "path", "tests_of_a_very_long_table_name_that_leaves_no_room_f_path"},
	} {
		if got := p.freeName(c.table, c.want); got != c.name {
			t.Errorf("%s, %s: %q, want %q", c.table, c.want, got, c.name)
		}
	}
}
