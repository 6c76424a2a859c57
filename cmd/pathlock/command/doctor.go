package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/store/anystore"
)

type doctorCommand struct {
	lockStore
	DB    string `help:"Database with trees: sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name. Set the environment variable: other users can see the command line." env:"PATHLOCK_DB" placeholder:"URL" group:"Database:"`
	Table string `help:"Table that holds the trees: suites or schema.suites (default: examine only the server)." placeholder:"NAME" group:"Database:"`

	columns

	Strict bool `help:"Let warnings, and checks that could not run, also decide the exit code."`
	JSON   bool `help:"Write one JSON object per line." group:"Output:"`
	Quiet  bool `help:"Leave out what is fine." short:"q" group:"Output:"`
}

// Help is the detailed help of the command.
func (*doctorCommand) Help() string {
	return `It asks the servers of a lock store, of a database, or of both. It reports each setting, what the setting means, and what to change. Use the URLs,
users and passwords of your programs, because it tries their rights: it takes and releases a lock in a tree of its own, pathlock-doctor/…,
and runs statements that change no row. It changes no setting.

If the programs' user may not see something, such as a setting of Redis, the doctor reports it as unknown. So run it as an administrator, too.

Examples:

    pathlock doctor --locks redis://127.0.0.1:6379/0
    export PATHLOCK_LOCKS=redis://127.0.0.1:6379/0 PATHLOCK_DB='mysql://user:pass@tcp(127.0.0.1:3306)/testplan'
    pathlock doctor --table suites --strict -q

Levels:

    problem  locks are lost or not granted now, or a tree can break
    warning  locks may be lost or delayed if something else fails; trees stay correct
    unknown  the doctor could not examine it
    advice   nothing is wrong, but something could be better
    fine     nothing to change

Exit codes:

    0    no problems; with --strict, also no warnings and nothing unknown
    2    with --strict: warnings, but no problems
    4    problems
    8    a server that grants locks or holds trees did not answer; or, with --strict, something could not be examined,
         and nothing worse was found
    16   the command line is invalid
    130  interrupted

--json writes one object per line, with the type finding, and at the end one with the type summary.`
}

// summaryLine counts the findings by level, in JSON.
type summaryLine struct {
	Problems int `json:"problems"`
	Warnings int `json:"warnings"`
	Unknown  int `json:"unknown"`
	Advice   int `json:"advice"`
	Fine     int `json:"fine"`
}

// Run implements the command.
func (c *doctorCommand) Run(ctx context.Context, out *output, code *int) error {
	if err := (flaws{
		{c.Locks == "" && c.DB == "", "nothing to examine: give --locks, --db or both"},
		{c.Table != "" && c.DB == "", "--table without --db"},
	}).refuse(); err != nil {
		return err
	}
	report, err := c.examine(ctx)
	if err != nil {
		return err
	}
	counts := make(map[doctor.Level]int)
	for _, f := range report.Findings {
		counts[f.Level]++
		if !c.Quiet || f.Level != doctor.Fine {
			out.say(c.JSON, typed{"finding", f}, findingText(f)...)
		}
	}
	*code = c.code(report, counts)
	summary := summaryLine{counts[doctor.Problem], counts[doctor.Warning], counts[doctor.Unknown], counts[doctor.Advice], counts[doctor.Fine]}
	out.say(c.JSON, typed{"summary", summary}, fmt.Sprintf("%s, %s, %d unknown, %d advice, %d fine",
		shown.Count(summary.Problems, "problem", "problems"), shown.Count(summary.Warnings, "warning", "warnings"), summary.Unknown, summary.Advice, summary.Fine))
	return nil
}

func (c *doctorCommand) examine(ctx context.Context) (report doctor.Report, err error) {
	subject := doctor.Subject{
		Locks: c.Locks, Kinds: append(c.stores, anystore.WithPassword(c.LocksPassword)),
		Nameless: strings.Contains(c.DB, "default_query_exec_mode=") && !strings.Contains(c.DB, "=cache_statement"),
	}
	if c.DB != "" {
		if subject.DB, subject.Dialect, err = openDB(c.DB); err != nil {
			return report, err
		}
		defer func() { err = errors.Join(err, subject.DB.Close()) }()
	}
	if c.Table != "" {
		table, err := c.describe(c.Table, "")
		if err != nil {
			return report, err
		}
		subject.Table = &table
	}
	report, err = doctor.Examine(ctx, subject)
	if errors.Is(err, anystore.ErrURL) {
		err = fmt.Errorf("%w: --locks: %w", errUsage, err)
	}
	return report, err
}

// code returns the exit code for a report, given how many findings of each level it has.
func (c *doctorCommand) code(r doctor.Report, counts map[doctor.Level]int) int {
	switch {
	case r.Unanswered():
		return exitFailure
	case counts[doctor.Problem] > 0:
		return exitLeft
	case c.Strict && counts[doctor.Warning] > 0:
		return exitWarned
	case c.Strict && counts[doctor.Unknown] > 0:
		return exitFailure
	default:
		return exitUnset
	}
}

// findingText shows a finding to people.
func findingText(f doctor.Finding) []string {
	lines := []string{fmt.Sprintf("%-8s %s: %s: %s", f.Level, f.About, f.Check, flat(f.Is))}
	if f.Means != "" {
		lines = append(lines, "         "+flat(f.Means))
	}
	if f.Change != "" {
		lines = append(lines, "         change: "+flat(f.Change))
	}
	for _, statement := range f.Statements {
		lines = append(lines, "         "+flat(statement)+";")
	}
	return lines
}

// flat puts a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
