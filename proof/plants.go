package main

import (
	_ "embed"
	"strings"
	"time"
)

// plant is a bug that is put into a copy of one file.
type plant struct {
	name     string
	file     string
	old, new string
	checks   []check // the first of them that fails has caught it
}

// check is a set of tests that may catch a bug: a package, which of its tests, and how long they
// look.
type check struct {
	dir, tests string
	time       time.Duration
}

// checks are those of plants.txt.
var checks = map[string]check{
	"smallworld-queue":   {"./proof/smallworld", "TestQueue", 30 * time.Second},
	"smallworld-scripts": {"./proof/smallworld", "TestScripts_smallWorld", 30 * time.Second},
	"simulation":         {"./proof/simulation", "TestSimulation$", 4 * time.Minute},
	"simulation-memory":  {"./proof/simulation", "TestSimulation_memory$", 2 * time.Minute},
	"memstore":           {"./store/memstore", ".", 30 * time.Second},
	"ticketstore":        {"./store/ticketstore", ".", 30 * time.Second},
	"middleware":         {"./middleware", ".", 30 * time.Second},
	"lockspec":           {"./lockspec", ".", 30 * time.Second},
	"plan":               {"./gormplugin/internal/plan", ".", 30 * time.Second},
	"races":              {"./integration", "TestSQLiteRaces", 30 * time.Second},
	"idempotency":        {"./integration", "TestIdempotencyOnSQLite", 30 * time.Second},
	"histories":          {"./proof/histories", "TestHistories", 30 * time.Second}, // on what servers there are
}

//go:embed plants.txt
var planted string

// plants returns the bugs that the proof has to catch.
func plants() (all []plant) {
	for _, part := range strings.Split(planted, "\n## ")[1:] {
		lines := strings.Split(strings.TrimRight(part, "\n"), "\n")
		file, names, _ := strings.Cut(lines[1], ": ")
		p := plant{name: lines[0], file: file}
		for name := range strings.FieldsSeq(names) {
			c, known := checks[name]
			if !known {
				panic("plants.txt: there is no check " + name)
			}
			p.checks = append(p.checks, c)
		}
		var old, new []string
		for _, line := range lines[2:] {
			if text, goes := strings.CutPrefix(line, "-"); goes {
				old = append(old, text)
			} else {
				new = append(new, strings.TrimPrefix(line, "+"))
			}
		}
		p.old, p.new = strings.Join(old, "\n"), strings.Join(new, "\n")
		all = append(all, p)
	}
	return all
}
