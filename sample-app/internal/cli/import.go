package cli

import (
	"context"
	"errors"

	"github.com/pathlock-go/pathlock/sample-app/internal/importer"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

type importCommand struct {
	backend
	Project string   `help:"Project of the plan." default:"default"`
	Plan    string   `help:"Plan to import into. It is created if it does not exist." required:""`
	Exclude []string `help:"Names of directories to leave out." default:".git,.hg,.svn"`
	Dir     string   `arg:"" help:"Directory to import."`
}

// Run implements the command.
func (c *importCommand) Run(ctx context.Context, streams streams) error {
	i, err := instance.Open(ctx, c.config(streams.log))
	if err != nil {
		return err
	}
	err = importer.Run(ctx, i.Service, importer.Options{
		Project: c.Project, Plan: c.Plan, Dir: c.Dir, Exclude: c.Exclude, Out: streams.out,
	})
	return errors.Join(err, i.Close())
}
