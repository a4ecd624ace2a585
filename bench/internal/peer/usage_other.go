//go:build !linux

package peer

import (
	"errors"
	"os/exec"
	"runtime"
	"time"
)

var errLinux = errors.New("the benchmark measures on Linux only")

// CPU is not measured here.
func (p *Process) CPU() (time.Duration, error) { return 0, errLinux }

// Ticks is not measured here.
func (p *Process) Ticks() (user, system time.Duration, err error) { return 0, 0, errLinux }

// Memory is not measured here.
func (p *Process) Memory() (now, peak int64, err error) { return 0, 0, errLinux }

func startOn(_ int, cmd *exec.Cmd) error { return cmd.Start() }

// PinSelf does nothing here.
func PinSelf(int) error { return nil }

// Machine is the processor's architecture.
func Machine() string { return runtime.GOARCH }

// Load is not known here.
func Load() string { return "unknown" }
