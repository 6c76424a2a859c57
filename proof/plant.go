package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/proof/budget"
)

// overlay writes a copy of a file with the bug in it. The flag tells the go command to use that,
// even when a test builds a program.
func (p plant) overlay(dir string) (flag string, err error) {
	text, err := os.ReadFile(p.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), p.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times", p.file, p.old, n)
	}
	bug := filepath.Join(dir, "bug"+filepath.Ext(p.file))
	whole, err := filepath.Abs(p.file)
	if err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {whole: bug}})
	if err != nil {
		return "", err
	}
	names := filepath.Join(dir, "overlay.json")
	return "-overlay=" + names, cmp.Or(
		os.WriteFile(bug, []byte(strings.Replace(string(text), p.old, p.new, 1)), 0o600),
		os.WriteFile(names, replace, 0o600),
	)
}

var failedTest = regexp.MustCompile(`--- FAIL: (\S+)`)

// catch returns which test has caught a bug, and how soon; "" if none.
func (p plant) catch(ctx context.Context, dir string) (by, after string, err error) {
	flag, err := p.overlay(dir)
	if err != nil {
		return "", "", err
	}
	began := time.Now()
	for _, c := range p.checks {
		out, failed := goTest(ctx, []string{budget.TimeVariable + "=" + c.time.String(), budget.SeedVariable + "=1", "GOFLAGS=" + os.Getenv("GOFLAGS") + " " + flag},
			"-v", "-failfast", "-timeout="+(c.time+time.Minute).String(), "-run", c.tests, c.dir)
		switch {
		case ctx.Err() != nil:
			return "", "", ctx.Err()
		case !failed:
			continue
		}
		if strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]") {
			return "", "", fmt.Errorf("it does not build:\n%s", out)
		}
		for _, m := range failedTest.FindAllStringSubmatch(out, -1) {
			if len(m[1]) > len(by) {
				by = m[1]
			}
		}
		by, _, _ = strings.Cut(by, "/seed=")
		switch {
		case by != "":
		case strings.Contains(out, "panic: test timed out"), strings.Contains(out, "*** Test killed"): // whose stacks took long
			by = c.dir + ": it does not end"
		case strings.Contains(out, "panic: "), strings.Contains(out, "fatal error: "):
			by = c.dir + ": it crashes"
		default: // such as a full disk
			return "", "", fmt.Errorf("no test has failed:\n%s", out)
		}
		return by, fmt.Sprintf("%v%s", time.Since(began).Round(time.Second), tries(out)), nil
	}
	return "", "", nil
}

// tries says after how many seeds or commands a bug was found, where a test says so.
func tries(out string) string {
	if n := strings.Count(out, "=== RUN   TestSimulation/"); n > 0 {
		return fmt.Sprintf(", seed %d", n)
	}
	commands := 0
	for line := range strings.Lines(out) {
		_, numbers, _ := budget.Parse(line)
		commands += numbers["commands"]
	}
	if commands == 0 {
		return ""
	}
	return fmt.Sprintf(", %s commands", thousands(commands))
}

// plantAll plants one bug after the other, and prints what catches each. It reports whether all are
// caught.
func plantAll(ctx context.Context, match string, write bool) (caught, all int, err error) {
	dir, err := os.MkdirTemp("", "plant")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	began, table := time.Now(), "| planted | in | caught by | after |\n| --- | --- | --- | --- |\n"
	fmt.Print(table)
	for _, p := range plants() {
		if !strings.Contains(p.file+" "+p.name, match) {
			continue
		}
		if slices.Contains(p.checks, checks["histories"]) && !testserver.Available(testserver.RedisVariable, testserver.MariaDBVariable) {
			fmt.Printf("| %s | %s | left out: there is no server | |\n", p.name, p.file)
			write = false
			continue
		}
		by, after, err := p.catch(ctx, dir)
		if err != nil {
			return caught, all, fmt.Errorf("%s: %w", p.name, err)
		}
		all++
		if by != "" {
			caught++
		} else {
			by = "**nothing**"
		}
		line := fmt.Sprintf("| %s | %s | %s | %s |\n", p.name, p.file, by, after)
		fmt.Print(line)
		table += line
	}
	fmt.Printf("\n%d of %d are caught\n", caught, all)
	if write && match == "" {
		err = writeSection("Planted bugs", table, began)
	}
	return caught, all, err
}
