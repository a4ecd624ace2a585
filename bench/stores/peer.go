package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elicit-go/elicit/bench/internal/peer"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// measurePeer measures the tasks of mcp-go, which are in memory: each that waits is a goroutine. Its clients of
// 2025-11-25 cannot answer a task through the task, so there is no update; and calls come in the process, without HTTP.
func measurePeer(sizes []int) {
	fmt.Printf("\nmcp-go, in memory, lost with the process; without HTTP\n\n%10s %12s %21s %14s\n", "waiting", "creations/s", "get p50/p99", "memory")
	s := server.NewMCPServer("shop", "1", server.WithTaskCapabilities(true, true, true), server.WithToolCapabilities(true))
	approved := make(chan struct{})
	defer close(approved)
	s.AddTaskTool(mcp.NewTool("Deploy", mcp.WithTaskSupport(mcp.TaskSupportRequired)), func(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
		<-approved // its context ends with the call that made the task
		return &mcp.CreateTaskResult{}, nil
	})
	session := &peerSession{notifications: make(chan mcp.JSONRPCNotification, 1<<10)}
	ctx := s.WithContext(context.Background(), session)
	check(s.RegisterSession(ctx, session))
	post := func(method, params string) (task mcp.Task) {
		b, err := json.Marshal(s.HandleMessage(ctx, json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params))))
		check(err)
		var x struct {
			Result struct {
				mcp.Task
				Nested mcp.Task `json:"task"`
			}
		}
		check(json.Unmarshal(b, &x))
		if task = x.Result.Task; task.TaskId == "" {
			task = x.Result.Nested
		}
		if task.TaskId == "" || task.Status != mcp.TaskStatusWorking {
			log.Fatalf("%s: %s", method, b)
		}
		return task
	}
	var empty int
	ids = nil
	for _, size := range sizes {
		var mu sync.Mutex
		var wg sync.WaitGroup
		var left atomic.Int64
		left.Store(int64(size - len(ids)))
		start, before := time.Now(), len(ids)
		for range clients {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					id := post("tools/call", `"name":"Deploy","arguments":{},"task":{}`).TaskId
					mu.Lock()
					ids = append(ids, id)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		perSecond := float64(len(ids)-before) / time.Since(start).Seconds()
		var gets latency
		for n := range min(2000, len(ids)) {
			id := ids[n*7919%len(ids)]
			start := time.Now()
			post("tasks/get", fmt.Sprintf(`"taskId":%q`, id))
			gets = append(gets, time.Since(start))
		}
		memory := resident() - 52*len(ids)
		if size == 0 {
			empty = memory
		}
		fmt.Printf("%10d %12.0f %21s %6d MB %+4d\n", size, perSecond, gets, memory>>20, (memory-empty)>>20)
	}
}

// measureTypeScript measures the tasks of the TypeScript SDK, which are in memory too.
func measureTypeScript(sizes []int) {
	fmt.Printf("\nTypeScript SDK 1.32.2 on Node %s, in memory, lost with the process; without HTTP\n\n%10s %12s %21s %14s\n", peer.NodeVersion(), "waiting", "creations/s", "get p50/p99", "memory")
	check(peer.Installed())
	args := []string{"--expose-gc", filepath.Join(peer.Dir(), "servers", peer.TypeScript, "tasks.js")}
	for _, size := range sizes {
		args = append(args, strconv.Itoa(size))
	}
	node := exec.Command("node", args...)
	node.Stderr = os.Stderr
	out, err := node.StdoutPipe()
	check(err)
	check(node.Start())
	empty := 0
	for d := json.NewDecoder(out); ; {
		var x struct {
			Size     int
			Created  float64
			Gets     []float64 // ms
			Resident int
		}
		if err := d.Decode(&x); errors.Is(err, io.EOF) {
			break
		} else {
			check(err)
		}
		var gets latency
		for _, ms := range x.Gets {
			gets = append(gets, time.Duration(ms*float64(time.Millisecond)))
		}
		if empty == 0 {
			empty = x.Resident
		}
		fmt.Printf("%10d %12.0f %21s %6d MB %+4d\n", x.Size, x.Created, gets, x.Resident>>20, (x.Resident-empty)>>20)
	}
	check(node.Wait())
}

type peerSession struct {
	notifications chan mcp.JSONRPCNotification
}

func (*peerSession) Initialize()       {}
func (*peerSession) Initialized() bool { return true }
func (*peerSession) SessionID() string { return "session" }
func (p *peerSession) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return p.notifications
}
