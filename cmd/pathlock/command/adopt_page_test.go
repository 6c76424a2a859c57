package command_test

import (
	"os"
	"testing"
)

// A page shows a table of departments, one of which has a wrong path, and all that there is to do.
func TestAdopt_page(t *testing.T) {
	t.Parallel()
	url, db := table(t, "VALUES (1, 1, NULL, 'unused', '/unused')")
	for _, statement := range []string{
		"DROP TABLE suites",
		"CREATE TABLE sys_dept (dept_id INTEGER PRIMARY KEY, parent_id INTEGER, dept_path VARCHAR(255), dept_name VARCHAR(128), deleted_at BIGINT DEFAULT 0)",
		"INSERT INTO sys_dept VALUES (1, 0, '/0/1/', '', 0), (7, 1, '/0/1/7/', 'a/b', 0), (8, 7, '/0/9/8/', 'a/b', 0), (9, 3, '', '', 1700000000000)",
		"CREATE TABLE ns (id INTEGER PRIMARY KEY, name TEXT, lft INTEGER, rgt INTEGER)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	want := string(must(os.ReadFile("testdata/adopt/departments.txt")))
	if code, out, errs := run(t, "adopt", "--db", url); code != 0 || out != want {
		t.Errorf("exit code %d, and\n%s%s", code, out, errs)
	}
	if code, out, errs := run(t, "adopt", "--db", url, "--table", "nobody"); code != 8 || errs != "pathlock: there is no table \"nobody\" that this user can read\n" {
		t.Errorf("exit code %d, and %s%s", code, out, errs)
	}
}
