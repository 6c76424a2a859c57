package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/mariadb"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/section"
)

// run measures the sections, and writes the results of each as soon as it has them.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	env, closeEnv, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEnv()) }()

	r := report.Report{
		Schema: report.Schema, Started: time.Now().UTC(), Quick: o.quick, Rounds: o.plan.Rounds, Modules: modules(),
		Machine: report.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()},
	}
	if env.Admin != nil {
		if r.Machine.Redis, err = redisserver.Version(ctx, env.Admin); err != nil {
			return err
		}
	}
	if err := r.WriteHeader(out); err != nil {
		return err
	}
	for _, s := range o.sections {
		measured, err := s.Run(ctx, env)
		if err != nil {
			return err
		}
		r.Sections = append(r.Sections, measured)
		if err := measured.WriteText(out); err != nil {
			return err
		}
	}
	r.Seconds = time.Since(r.Started).Seconds()
	if err := r.WriteSummary(out); err != nil {
		return err
	}
	return save(r, o.json)
}

// prepare makes the environment of the sections, and a function that removes it.
func prepare(ctx context.Context, o options) (*section.Env, func() error, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	env := &section.Env{URL: o.redis, DSN: o.mysql, Plan: o.plan, Program: program}
	var undo []func() error
	closeAll := func() error {
		var errs []error
		for _, f := range slices.Backward(undo) {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	for need, open := range map[section.Server]func(context.Context, *section.Env) (func() error, error){
		section.Redis: openRedis, section.MariaDB: openMariaDB,
	} {
		if !slices.ContainsFunc(o.sections, func(s section.Section) bool { return s.Server.Includes(need) }) {
			continue
		}
		f, err := open(ctx, env)
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		undo = append(undo, f)
	}
	return env, closeAll, nil
}

// openRedis connects to a Redis, and starts one if none is given.
func openRedis(ctx context.Context, env *section.Env) (func() error, error) {
	stop := func() error { return nil }
	if env.URL == "" {
		server, err := redisserver.Start(ctx)
		if err != nil {
			return nil, err
		}
		env.Own, env.URL, stop = server, server.URL(), server.Stop
	}
	client, err := contender.Server{URL: env.URL}.Client()
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	env.Admin = client
	return func() error { return errors.Join(closed(client), stop()) }, nil
}

// openMariaDB starts a MariaDB if no server is given.
func openMariaDB(ctx context.Context, env *section.Env) (func() error, error) {
	if env.DSN != "" {
		return func() error { return nil }, nil
	}
	server, err := mariadb.Start(ctx)
	if err != nil {
		return nil, err
	}
	env.OwnSQL, env.DSN = server, server.DSN
	return server.Stop, nil
}

func closed(client *redis.Client) error {
	if err := client.Close(); err != nil {
		return fmt.Errorf("closing the client: %w", err)
	}
	return nil
}

// modules returns the versions of the measured modules that are linked into this program.
func modules() map[string]string {
	linked := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			linked[m.Path] = m.Version
		}
	}
	measured := make(map[string]string)
	for _, c := range slices.Concat(contender.Redis(), contender.Local()) {
		if v := linked[c.Module]; v != "" && v != "(devel)" {
			measured[c.Module] = v
		}
	}
	if v := linked["github.com/redis/go-redis/v9"]; v != "" {
		measured["github.com/redis/go-redis/v9"] = v
	}
	return measured
}

// save writes the report as JSON if a file is given.
func save(r report.Report, file string) (err error) {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return r.WriteJSON(f)
}
