package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/pathlock-go/pathlock/bench/internal/section"
)

// redisVariable names an existing Redis.
const redisVariable = "PATHLOCK_BENCH_REDIS"

// mysqlVariable names an existing MySQL or MariaDB.
const mysqlVariable = "PATHLOCK_BENCH_MYSQL"

// options are the settings of the command line.
type options struct {
	sections []section.Section
	plan     section.Plan
	quick    bool
	json     string
	redis    string
	mysql    string
}

// parseOptions reads the command line.
func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 0, "number of `rounds`, of which results are the medians; 0 means seven, or three with -quick")
	flags.BoolVar(&o.quick, "quick", false, "a short run, to see that everything works; do not rely on its numbers")
	pattern := flags.String("run", "", "run only the sections whose names match the `regexp`")
	flags.StringVar(&o.json, "json", "", "also write the results to this `file`, as JSON")
	flags.StringVar(&o.redis, "redis", os.Getenv(redisVariable), "`URL` of a Redis that nobody else uses meanwhile; if empty, start one ("+redisVariable+")")
	flags.StringVar(&o.mysql, "mysql", os.Getenv(mysqlVariable), "`DSN`, without a database, of a MySQL or MariaDB that nobody else uses meanwhile; if empty, start a MariaDB ("+mysqlVariable+")")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("%q is not a flag", flags.Arg(0))
	}

	o.plan = section.Full()
	if o.quick {
		o.plan = section.Quick()
	}
	switch {
	case *rounds < 0:
		return options{}, fmt.Errorf("-rounds %d: at least one round is needed", *rounds)
	case *rounds > 0:
		o.plan = o.plan.WithRounds(*rounds)
	}

	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		return options{}, fmt.Errorf("-run: %w", err)
	}
	for _, s := range section.All() {
		if wanted.MatchString(s.Name) {
			o.sections = append(o.sections, s)
		}
	}
	if len(o.sections) == 0 {
		return options{}, fmt.Errorf("-run %s: no section has such a name", *pattern)
	}
	return o, nil
}
