package terminal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/internal/e2e/harness"
)

// The shells themselves complete command lines, as a person types them.
func TestCompletion(t *testing.T) {
	command(t, nil) // Builds it.
	real, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []struct {
		name   string
		args   []string
		source string
	}{
		{"bash", []string{"--norc", "--noprofile", "-i"}, "source <(" + real + " completion bash)"},
		{"zsh", []string{"-f", "-i"}, "autoload -U compinit; compinit -D -u; source <(" + real + " completion zsh)"},
		{"fish", []string{"--no-config", "-i"}, real + " completion fish | source"},
	} {
		t.Run(shell.name, func(t *testing.T) {
			path, err := exec.LookPath(shell.name)
			if err != nil {
				harness.Missing(t, "%s is not installed: run `make shells`", shell.name)
			}
			dir := t.TempDir()
			// What is run says with what; what completes is the command itself.
			for name, text := range map[string]string{
				"bin/elicit":      "#!/bin/sh\nif [ \"$1\" = __complete ]; then exec " + real + " \"$@\"; fi\nprintf 'ran'; printf ' <%s>' \"$@\"; echo\n",
				"bin/shop-server": "#!/bin/sh\n",
				"answers.json":    "{}\n", "some dir/x": "",
			} {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(path, shell.args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "PS1=$ ", "LC_ALL=C.UTF-8",
				"PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "ELICIT_TEST_TOKEN=hush", quick)
			s := startCommand(t, 150, 60, cmd)
			s.press(shell.source + "; echo rea''dy" + enter)
			s.wait("\nready")
			for _, tt := range []struct{ typed, want string }{
				{"elicit prev\tx", "ran <preview> <x>"},
				{"elicit call http://localhost:5280/ ShipOrder --dec\tship", "ran <call> <http://localhost:5280/> <ShipOrder> <--decline> <ship>"},
				{"elicit call --protocol 2026\t", "ran <call> <--protocol> <2026-07-28>"},
				{"elicit call http://localhost:5280/ T --protocol=2026\t", "ran <call> <http://localhost:5280/> <T> <--protocol=2026-07-28>"},
				{"elicit tools --token-env ELICIT_TEST_\t", "ran <tools> <--token-env> <ELICIT_TEST_TOKEN>"},
				{"elicit tools --token-env=ELICIT_TEST_\t", "ran <tools> <--token-env=ELICIT_TEST_TOKEN>"},
				{"elicit preview answ\t", "ran <preview> <answers.json>"},
				{"elicit call --answers=answ\t", "ran <call> <--answers=answers.json>"},
				{"elicit call --answers answ\t", "ran <call> <--answers> <answers.json>"},
				{"elicit preview some\tx", "ran <preview> <some dir/x>"},
				{"elicit completion f\t", "ran <completion> <fish>"},
				{"elicit help tool\t", "ran <help> <tools>"},
				{"elicit call ShipOrder --wire -- shop-se\t--stdio", "ran <call> <ShipOrder> <--wire> <--> <shop-server> <--stdio>"},
				{"elicit call ShipOrder -- shop-server answ\t", "ran <call> <ShipOrder> <--> <shop-server> <answers.json>"},
			} {
				before, after, _ := strings.Cut(tt.typed, "\t")
				s.press(before, "\t", after+enter)
				s.wait(tt.want)
			}
			// Several that fit are listed.
			s.press("elicit check --\t", "\t")
			s.wait("--safe", "--token-file")
			s.press("\x15")
		})
	}
}
