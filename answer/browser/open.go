package browser

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"
)

// Open opens a page in the person's browser: by xdg-open, open, or the URL handler of Windows, with the URL as one argument
// and without a shell. It does not check where the URL goes and asks nobody: use [answer.Request.Link] and a person's yes
// before. It fails where there is no browser, which is where to show the URL instead.
func Open(ctx context.Context, url string) error {
	if url == "" || url[0] == '-' {
		return errors.New("no URL")
	}
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("%s is not installed", name)
	}
	// The opener may stay for as long as the browser does: a quick failure is one, everything else is none.
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	case <-time.After(2 * time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
