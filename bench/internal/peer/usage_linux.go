package peer

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the time that the process has spent on a core so far, in user and kernel mode, all threads together, ended ones
// too: the kernel's clock of the process, which counts nanoseconds.
func (p *Process) CPU() (time.Duration, error) {
	// The id of another process's clock: what clock_getcpuclockid(3) computes.
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|2), &t); err != nil {
		return 0, fmt.Errorf("the clock of process %d: %w", p.cmd.Process.Pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// Ticks is the same as /proc/PID/stat tells it, in user and kernel mode, to the hundredth of a second.
func (p *Process) Ticks() (user, system time.Duration, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // from the third on
	if len(fields) < 13 {
		return 0, 0, fmt.Errorf("/proc/%d/stat is short", p.cmd.Process.Pid)
	}
	tick := func(b []byte) time.Duration {
		n, e := strconv.ParseInt(string(b), 10, 64)
		if e != nil {
			err = e
		}
		return time.Duration(n) * time.Second / 100
	}
	return tick(fields[11]), tick(fields[12]), err
}

// Memory is how much memory the process has, and had at most, in bytes.
func (p *Process) Memory() (now, peak int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range bytes.Lines(b) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		n, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))), 10, 64)
		switch string(name) {
		case "VmRSS":
			now = n << 10
		case "VmHWM":
			peak = n << 10
		}
	}
	return now, peak, nil
}

// startOn starts a command on one core. A process inherits the cores of the thread that starts it.
func startOn(core int, cmd *exec.Cmd) error {
	if core < 0 {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(core)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	err := cmd.Start()
	if e := unix.SchedSetaffinity(0, &before); err == nil {
		err = e
	}
	return err
}

// PinSelf keeps this process, all its threads, to one core.
func PinSelf(core int) error {
	var one unix.CPUSet
	one.Set(core)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &one); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}

// Machine is the processor's model.
func Machine() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range bytes.Lines(b) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && string(bytes.TrimSpace(name)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return runtime.GOARCH
}

// Load is the machine's load average of the last minute.
func Load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := bytes.Cut(b, []byte(" "))
	return string(first)
}
