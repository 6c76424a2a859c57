package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

type serveCommand struct {
	backend
	Addr         string        `help:"Address to listen on." default:"127.0.0.1:8080" env:"PATHLOCK_ADDR"`
	Hosts        []string      `help:"Names, with or without a port, under which clients reach the server. Without it: every name on an interface, localhost and IP addresses on the loopback interface." env:"PATHLOCK_HOSTS" placeholder:"NAME"`
	Drain        time.Duration `help:"How long after SIGTERM /readyz says 503 while everything else is still served, before the port closes." default:"0s" env:"PATHLOCK_DRAIN"`
	AdminRelease bool          `help:"Let whoever reaches /admin/locks release what others hold. There is no authentication; without this, the page is read-only." env:"PATHLOCK_ADMIN_RELEASE"`
	Rule         string        `help:"How much of a plan a change of its tree locks: name-slots, parent-exclusive or whole-plan. The last two exist for comparison." enum:"name-slots,parent-exclusive,whole-plan" default:"name-slots" hidden:""`
}

// Validate refuses settings that cannot work. kong calls it beside the backend's own.
func (c *serveCommand) Validate() error {
	return errors.Join(
		c.backend.Validate(),
		refused("--addr", "PATHLOCK_ADDR", checkAddr(c.Addr)),
		refused("--hosts", "PATHLOCK_HOSTS", checkHosts(c.Hosts)),
		refused("--drain", "PATHLOCK_DRAIN", within(c.Drain, 0, instance.MaxDrain)),
	)
}

// checkAddr says why nothing can listen on an address, on whichever machine.
func checkAddr(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	}
	return err
}

// checkHosts refuses what no Host of a request can be.
func checkHosts(hosts []string) error {
	for _, host := range hosts {
		if !web.ValidHost(host) {
			return fmt.Errorf("%q is not of the form host or host:port", host)
		}
	}
	return nil
}

// Run implements the command.
func (c *serveCommand) Run(ctx context.Context, streams streams) error {
	config := c.config(streams.log)
	config.AdminRelease, config.Hosts = c.AdminRelease, c.Hosts
	config.Rule = httpapi.Rule(c.Rule)
	i, err := instance.Open(ctx, config)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), i.Close())
	}
	_, _ = fmt.Fprintf(streams.out, "%s%s\n", instance.Listening, listener.Addr())
	_, _ = fmt.Fprintf(streams.out, "  database  %s\n  locks     %s\n  assertion %s\n", i.DB.Where, i.Store, map[bool]string{true: "on", false: "off"}[c.Assert])
	if i.Unprotected {
		_, _ = fmt.Fprintln(streams.out, "  no protection at all: trees will be corrupted")
	}
	err = i.Serve(ctx, listener, c.Drain, streams.log)
	if err := errors.Join(err, i.Close()); err != nil {
		return fmt.Errorf("%w: %w", errCutOff, err)
	}
	_, _ = fmt.Fprintln(streams.out, "stopped: every request has finished and every lock is released")
	return nil
}

// errCutOff says that requests or releases were cut off when an instance ended.
var errCutOff = errors.New("not everything could be finished")
