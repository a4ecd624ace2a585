package page_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// No method but POST does anything, however it says what it is, and nothing of a link is in a response without a body.
func TestSecurity20Methods(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	r := s.call("ann", "Keyed", nil, nil)
	link := r.link(t, "apiKey")
	v := visit(t, "ann")
	form := v.get(link)
	body := url.Values{"csrf": {csrfField.FindStringSubmatch(form.body)[1]}, "button": {"send"}, "value0": {"evil key"}}.Encode()
	for method, want := range map[string]int{http.MethodGet: 200, http.MethodHead: 200, http.MethodOptions: 405, http.MethodPut: 405, http.MethodPatch: 405, http.MethodDelete: 405, "post": 405, "BREW": 405} {
		req, _ := http.NewRequest(method, link+"?"+body, strings.NewReader(body))
		req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Http-Method-Override": {"POST"}}
		if p := v.send(req); p.status != want || method == http.MethodHead && p.body != "" {
			t.Errorf("%s: %d %s", method, p.status, p.body)
		} else if allow := p.header.Get("Allow"); want == 405 && allow != "GET, HEAD, POST" {
			t.Errorf("%s: allowed is %q", method, allow)
		}
	}
	// What a post says in its address does not count.
	req, _ := http.NewRequest(http.MethodPost, link+"?"+body, strings.NewReader(""))
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {strings.TrimSuffix(s.base, "/pages")}}
	v.send(req).says(t, 403)
	if again := s.call("ann", "Keyed", r, map[string]string{"apiKey": "accept"}); again.link(t, "apiKey") != link {
		t.Errorf("got %s", again.text())
	}
}

// A path means one thing, and leads nowhere else: escaped once or twice, with dots, slashes and what a host could be made of.
func TestSecurity21Paths(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	link := s.call("ann", "Keyed", nil, nil).link(t, "apiKey")
	token := link[len(s.base)+1:]
	v := visit(t, "ann")
	for _, path := range []string{"/pages//" + token, "/pages/./" + token, "/pages/x/../" + token, "/pages/%2F" + token, "/pages/%252F" + token, "/pages/%2e%2e/" + token, "/pages/return/%2F%2Fevil.example.com",
		"/pages/return//evil.example.com", "/pages/return/" + token + "/..", "/pages/%5Cevil.example.com", "/pages/callback/%2e%2e/" + token, "/pages/callback//" + token, "/pages/" + token + "%00", "/pages/" + token + "/",
		"/pages/" + token + ";x", "/pages/continue/" + token, "/pages/continue%2F", "//evil.example.com/pages/" + token} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(s.base, "/pages"), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nCookie: user=ann\r\nConnection: close\r\n\r\n", path, conn.RemoteAddr())
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(path, err)
		}
		body, _ := io.ReadAll(res.Body)
		conn.Close()
		if strings.Contains(string(body), "<form") {
			t.Errorf("%s shows the page", path)
		}
		if to := res.Header.Get("Location"); to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "\\")) {
			t.Errorf("%s leads to %s", path, to)
		}
	}
	v.get(link).says(t, 200, "Your key")
	for _, base := range []string{"https://mcp.example.com//evil.example.com", "https://mcp.example.com//", "https://mcp.example.com/a/../b", "https://mcp.example.com/a//b", "https://mcp.example.com/a%2Fb", "https://mcp.example.com/a b"} {
		func() {
			defer func() {
				if wrong := fmt.Sprint(recover()); !strings.Contains(wrong, "Options.Base") {
					t.Errorf("%s: %s", base, wrong)
				}
			}()
			page.Enable(elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), nil), page.Options{Base: base, Identify: cookies})
		}()
	}
}

// What is no form, or comes too slowly, is refused: the reader is given a minute, unless the server has a time of its own.
func TestSecurity21Bodies(t *testing.T) {
	s := newSite(t, setup{tools: weather})
	link := s.call("", "Forecast", nil, nil).link(t, "credentials")
	u, _ := url.Parse(link)
	post := func(body io.Reader, server *http.Server) (*httptest.ResponseRecorder, time.Time) {
		w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest(http.MethodPost, link, body).WithContext(context.WithValue(t.Context(), http.ServerContextKey, server))
		r.Host, r.RemoteAddr = u.Host, "127.0.0.1:1234"
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"http://" + u.Host}}
		s.pages.ServeHTTP(w, r)
		return w.ResponseRecorder, w.deadline
	}
	for name, c := range map[string]struct {
		body   io.Reader
		status int
	}{
		"not escaped":   {strings.NewReader("value0=%zz"), 400},
		"ends too soon": {io.MultiReader(strings.NewReader("value0=x"), broken{}), 400},
		"giant":         {io.MultiReader(strings.NewReader("value0="), endless{}), 413},
	} {
		w, deadline := post(c.body, &http.Server{})
		if left := time.Until(deadline); w.Code != c.status || left <= 0 || left > time.Minute {
			t.Errorf("%s: %d, read until %v", name, w.Code, deadline)
		}
	}
	if _, deadline := post(strings.NewReader(""), &http.Server{ReadTimeout: time.Second}); !deadline.IsZero() {
		t.Errorf("the server's own time was changed to %v", deadline)
	}
	visit(t, "").get(link).says(t, 200, "Your account")
}

type deadlined struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (d *deadlined) SetReadDeadline(t time.Time) error {
	d.deadline = t
	return nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Over HTTP/2 the rules are the same: the authority is the host, and a forbidden post is none.
func TestSecurity19HTTP2(t *testing.T) {
	s := newSite(t, setup{tools: weather})
	link := s.call("", "Forecast", nil, nil).link(t, "credentials")
	h2 := httptest.NewUnstartedServer(*s.handler.Load())
	h2.EnableHTTP2 = true
	h2.StartTLS()
	defer h2.Close()
	v := visit(t, "")
	v.client.Transport = h2.Client().Transport
	at := h2.URL + strings.TrimPrefix(link, strings.TrimSuffix(s.base, "/pages"))
	own := strings.TrimPrefix(strings.TrimSuffix(s.base, "/pages"), "http://")
	v.get(at).says(t, 403, "This is not "+own)
	v.headers = http.Header{"Host": {own}}
	p := v.get(at)
	p.says(t, 200, "Your account")
	p.at = link
	for name, headers := range map[string]http.Header{"foreign": {"Origin": {h2.URL}, "Host": {own}}, "through a tunnel": {"Cf-Connecting-Ip": {"203.0.113.1"}, "Host": {own}, "Origin": {"http://" + own}}} {
		evil := visit(t, "")
		evil.headers = headers
		t.Run(name, func(t *testing.T) { evil.post(p, "send", "evil", "12345678").says(t, 403) })
	}
}

// Tunnels and proxies that name the visitor in ways of their own are proxies too.
func TestSecurity19TunnelHeaders(t *testing.T) {
	s := newSite(t, setup{tools: weather})
	link := s.call("", "Forecast", nil, nil).link(t, "credentials")
	for _, name := range []string{"Forwarded", "Via", "X-Real-Ip", "X-Forwarded-For", "X-Forwarded-Host", "X-Original-Forwarded-For", "X-Original-Host", "Cf-Connecting-Ip", "True-Client-Ip", "X-Client-Ip", "Fastly-Client-Ip", "X-Cluster-Client-Ip", "X-Envoy-External-Address"} {
		v := visit(t, "")
		v.headers = http.Header{name: {"203.0.113.1"}}
		if p := v.get(link); p.status != 403 {
			t.Errorf("%s: %d", name, p.status)
		}
	}
}

// A principal that is an issuer without a user is everybody whom the issuer knows: there is no link for it.
func TestSecurity19IssuerAlone(t *testing.T) {
	s := newSite(t, setup{tools: weather, page: page.Options{Identify: func(http.ResponseWriter, *http.Request) (page.Person, bool) { return page.Person{Issuer: issuer}, true }},
		elicit: elicit.Options{Principal: func(context.Context, *mcp.RequestExtra) (elicit.Principal, error) {
			return elicit.Principal{Issuer: issuer, Client: "editor"}, nil
		}}})
	if r := s.call("", "Forecast", nil, nil); !r.Result.IsError || !strings.Contains(r.text(), "has no principal") {
		t.Errorf("got %+v", r)
	}
}

// A link that a login could not bring back, as it is longer than a cookie, is not made.
func TestSecurity21LinkFitsALogin(t *testing.T) {
	for _, n := range []int{1500, 4500} {
		q := elicit.NewURL("pay", "Pay", func(context.Context) (string, error) { return "https://pay.example.com/" + strings.Repeat("x", n), nil },
			func(context.Context) (bool, error) { return false, nil })
		s := newSite(t, setup{users: true, tools: func(shop *elicit.Server) {
			elicit.AddTool(shop, &mcp.Tool{Name: "Order"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
				_, err := q.Value(ctx)
				return nil, nil, err
			}, elicit.Asks(q))
		}})
		r := s.call("ann", "Order", nil, nil)
		if n > 4000 {
			if !r.Result.IsError || !strings.Contains(r.text(), "its link would be longer") {
				t.Errorf("got %+v", r)
			}
			continue
		}
		v := visit(t, "")
		to, _ := url.Parse(v.get(r.link(t, "pay")).header.Get("Location"))
		v.user = "ann"
		p := v.get(to.Query().Get("to"))
		if cookie := p.header.Get("Set-Cookie"); len(cookie) == 0 || len(cookie) > 4096 {
			t.Errorf("a cookie of %d bytes", len(cookie))
		}
		v.get(s.base+"/continue").says(t, 200, "Pay")
	}
}
