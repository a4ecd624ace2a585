package page_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tests play the attacks of the security rules, each named after its number.

const theSecret = "s3cr3t+/äöü-with-escapes"

func TestSecurity14SecretsHideThemselves(t *testing.T) {
	type inner struct {
		Key page.Hidden
		pem page.HiddenText
	}
	h := page.NewHidden(theSecret)
	values := []any{h, &h, page.NewHiddenText(theSecret), inner{h, page.NewHiddenText(theSecret)}, &inner{Key: h}, []page.Hidden{h}, map[string]page.Hidden{"k": h},
		credentials{"ann", h}, struct{ any }{h}}
	var b strings.Builder
	text, logs := slog.New(slog.NewTextHandler(&b, nil)), slog.New(slog.NewJSONHandler(&b, nil))
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t", "%p"} {
			fmt.Fprintf(&b, verb+"\n", v)
		}
		text.Info("x", "v", v)
		logs.Info("x", "v", v)
		j, err := json.Marshal(v)
		fmt.Fprintln(&b, string(j), err)
		x, err := xml.Marshal(v)
		fmt.Fprintln(&b, string(x), err)
	}
	nowhere(t, "printed", b.String(), theSecret)
	if got := h.Reveal(); got != theSecret {
		t.Errorf("revealed %q", got)
	}
	if !h.Equal(page.NewHidden(theSecret)) || h.Equal(page.NewHidden("x")) || h.IsZero() || !(page.Hidden{}).IsZero() {
		t.Error("Equal or IsZero is wrong")
	}
}

// nowhere checks that a text does not hold a secret in any spelling that something here could write.
func nowhere(t *testing.T, where, text, secret string) {
	t.Helper()
	quoted, _ := json.Marshal(secret)
	spellings := []string{secret, strings.Trim(string(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret)),
		fmt.Sprintf("%X", secret), fmt.Sprintf("% x", secret), strings.Trim(fmt.Sprintf("%q", secret), `"`), strings.Trim(fmt.Sprintf("%+q", secret), `"`)}
	for offset := range 3 { // in Base64, wherever it begins
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			s := enc.EncodeToString([]byte(strings.Repeat("x", offset) + secret))
			spellings = append(spellings, s[4:len(s)-4])
		}
	}
	for _, s := range spellings {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("%s: the secret is there as %q", where, s)
		}
	}
}

// recorder is a Vault that keeps all it was ever given, in the clear.
type recorder struct {
	page.Vault
	mu   sync.Mutex
	all  []page.Entry
	gate *sync.WaitGroup // if set, an Add waits for all
}

func (r *recorder) keep(e page.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
}

func (r *recorder) Add(ctx context.Context, e page.Entry) (bool, error) {
	r.keep(e)
	if r.gate != nil && strings.HasPrefix(e.Key, "o:") {
		r.gate.Done()
		r.gate.Wait()
	}
	return r.Vault.Add(ctx, e)
}

func (r *recorder) Replace(ctx context.Context, old, e page.Entry) (bool, error) {
	r.keep(e)
	return r.Vault.Replace(ctx, old, e)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.all {
		fmt.Fprintf(&b, "%s %s %s\n", e.Key, e.Secret, e.Sealed)
	}
	return b.String()
}

// What a person enters is in no message, address, log line, error, page or state, and in the vault only sealed.
func TestSecurity14SecretIsNowhereElse(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	var got []string
	pem := page.Secret[struct {
		Key  page.HiddenText `json:"privateKey"`
		Name string          `json:"name" elicit:"maxLength=5"`
	}]("pem", "Your key", page.Remember(time.Hour))
	s := newSite(t, setup{users: true, page: page.Options{Vault: r}, elicit: elicit.Options{Secrets: [][]byte{testSecret}}, tools: func(shop *elicit.Server) {
		elicit.AddTool(shop, &mcp.Tool{Name: "Deploy"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			v, err := pem.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			got = append(got, v.Key.Reveal())
			return nil, nil, fmt.Errorf("refused with %v", v) // as careless tools do
		}, elicit.Asks(pem))
	}})
	round := s.call("ann", "Deploy", nil, nil)
	v := visit(t, "ann")
	p := v.get(round.link(t, "pem"))
	p = v.press(p, "send", theSecret, "too long a name")
	p.says(t, 422, "at most 5")
	v.press(p, "send", strings.Repeat(theSecret, 6000), "x").says(t, 413)
	p = v.press(v.get(round.link(t, "pem")), "send", "line 1\r\n"+theSecret, "x")
	p.says(t, 200, "Done")
	s.call("ann", "Deploy", round, map[string]string{"pem": "accept"})
	s.call("ann", "Deploy", nil, nil)
	if len(got) == 0 || got[len(got)-1] != "line 1\n"+theSecret {
		t.Fatalf("the tool got %q", got)
	}
	for where, text := range map[string]string{"messages": s.wire.String(), "logs": s.logs.String(), "pages and addresses": v.seen.String(), "vault": r.String()} {
		if len(text) < 100 {
			t.Errorf("%s: nothing is recorded", where)
		}
		nowhere(t, where, text, theSecret)
	}
}
