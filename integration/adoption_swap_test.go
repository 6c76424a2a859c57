package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// docs/adopting.md swaps one store for another in one line: all of them are closed alike.
func TestAdoption_SwapsStores(t *testing.T) {
	t.Parallel()
	const file = "departments/after/departments.go"
	program, err := os.ReadFile(file)
	testerr.Must(t, err)
	for _, store := range []string{"offstore", "memstore"} {
		t.Run(store, func(t *testing.T) {
			swapped := strings.NewReplacer("redisstore.New(client)", store+".New()", "/store/redisstore", "/store/"+store).Replace(string(program))
			dir := t.TempDir()
			in := filepath.Join(dir, "swapped.go")
			testerr.Must(t, os.WriteFile(in, []byte(swapped), 0o600))
			at, err := filepath.Abs(file)
			testerr.Must(t, err)
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{at: in}})
			testerr.Must(t, err)
			list := filepath.Join(dir, "overlay.json")
			testerr.Must(t, os.WriteFile(list, overlay, 0o600))
			//nolint:gosec // The command is the test's own.
			out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "./departments/after").CombinedOutput()
			if err != nil || !strings.Contains(swapped, store+".New()") {
				t.Errorf("with %s: %v\n%s", store, err, out)
			}
		})
	}
}
