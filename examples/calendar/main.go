// Calendar lists the events of the user's calendar, which is somebody else's service: the user signs in there, and neither
// their client nor the model sees a token.
//
// The service runs in this process too, on a port of its own. With -login, callers need a token of it, as on a server that
// has users, and people who open a page sign in.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/examples/calendar/provider"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/page/oidc"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

// connectCalendar asks the user to sign in at the service, which is at issuer.
func connectCalendar(issuer, secret string) *elicit.Question[oauth2.TokenSource] {
	return page.Connect("calendar", "Connect your calendar, so that your events can be listed", oauth2.Config{
		ClientID:     "shop",
		ClientSecret: secret,
		Scopes:       []string{"openid", provider.CalendarScope, "offline_access"},
		Endpoint:     oauth2.Endpoint{AuthURL: issuer + "/authorize", TokenURL: issuer + "/oauth/token", AuthStyle: oauth2.AuthStyleInHeader},
	}, &page.ConnectOptions{Provider: "Example Calendar", Callback: "example-calendar", Issuer: issuer, RevocationURL: issuer + "/revoke"})
}

// listEvents is the tool.
func listEvents(calendar *elicit.Question[oauth2.TokenSource], api string) mcp.ToolHandlerFor[struct{}, any] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		source, err := calendar.Value(ctx)
		if err != nil {
			return nil, nil, err // asks, by a link; or the user refused
		}
		res, err := oauth2.NewClient(ctx, source).Get(api + "/events")
		if err != nil {
			return nil, nil, err
		}
		defer res.Body.Close()
		switch res.StatusCode {
		case http.StatusOK:
		case http.StatusUnauthorized: // the user has just revoked it
			if err := page.Forget(ctx, calendar); err != nil {
				return nil, nil, err
			}
			_, err := calendar.Value(ctx) // asks again
			return nil, nil, err
		default:
			return nil, nil, fmt.Errorf("the calendar answers %s", res.Status)
		}
		var events []string
		if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&events); err != nil {
			return nil, nil, err
		}
		return elicit.Text(strings.Join(events, "\n")), nil, nil
	}
}

// newServer is the server that is reached at addr. service is the calendar's, which is at issuer.
func newServer(addr, issuer string, service *provider.Provider, login bool, secrets clientSecrets) (http.Handler, error) {
	secret := make([]byte, 32) // of this process: a real server has one that outlives it (elicit keygen), and a page/sqlvault
	rand.Read(secret)
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "calendar", Version: "1.0.0"}, nil), &elicit.Options{Secrets: [][]byte{secret}})
	calendar := connectCalendar(issuer, secrets.shop)
	elicit.AddTool(shop, &mcp.Tool{Name: "ListEvents", Description: "Lists today's events of the user's calendar."}, listEvents(calendar, issuer), elicit.Asks(calendar))

	opts := page.Options{Base: "http://" + addr + "/pages"}
	handler := shop.Handler(nil)
	mux := http.NewServeMux()
	if login {
		signIn, err := oidc.New(oidc.Options{Issuer: issuer, ClientID: "pages", ClientSecret: secrets.pages, Base: opts.Base, Secrets: [][]byte{secret}})
		if err != nil {
			return nil, err
		}
		opts.Identify = signIn.Identify
		handler = auth.RequireBearerToken(verifier(service, issuer), nil)(handler)
		// In place of the OAuth by which a client gets its user's token.
		mux.HandleFunc("GET /token", func(w http.ResponseWriter, r *http.Request) {
			token, err := service.Token(r.FormValue("person"), "assistant")
			if err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
				return
			}
			fmt.Fprintln(w, token)
		})
	}
	mux.Handle("/pages/", page.Enable(shop, opts))
	mux.Handle("/", handler)
	return mux, nil
}

// verifier checks the tokens of callers. A server elsewhere than the provider asks it (RFC 7662), or checks a signature.
func verifier(service *provider.Provider, issuer string) auth.TokenVerifier {
	return func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		g, err := service.Verify(token)
		if err != nil || g.Client != "assistant" {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: g.Person, Expiration: g.Expires, Scopes: g.Scopes, Extra: map[string]any{"iss": issuer, "client_id": g.Client}}, nil
	}
}

// clientSecrets are those of the two clients that this server has at the service.
type clientSecrets struct{ shop, pages string }

// newProvider is the calendar's service, at issuer, for a server that is reached at addr.
func newProvider(addr, issuer string, life time.Duration) (*provider.Provider, clientSecrets, error) {
	secrets := clientSecrets{shop: rand.Text(), pages: rand.Text()}
	service, err := provider.New(provider.Options{Issuer: issuer, Life: life, Clients: []provider.Client{
		{ID: "shop", Secret: secrets.shop, Name: "The shop", Redirect: "http://" + addr + "/pages/callback/example-calendar"},
		{ID: "pages", Secret: secrets.pages, Name: "The shop", Redirect: "http://" + addr + "/pages/login/callback"},
	}})
	return service, secrets, err
}

func main() {
	addr := flag.String("addr", "localhost:5285", "the address to listen on")
	login := flag.Bool("login", false, "callers need a token, and people who open a page sign in")
	flag.Parse()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	issuer := "http://" + l.Addr().String()
	service, secrets, err := newProvider(*addr, issuer, 0)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(l, service)) }()

	server, err := newServer(*addr, issuer, service, *login, secrets)
	if err != nil {
		log.Fatal(err)
	}
	call := fmt.Sprintf("elicit call http://%s/ ListEvents", *addr)
	if *login {
		call = fmt.Sprintf("TOKEN=$(curl -s 'http://%s/token?person=ada') %s --token-env TOKEN", *addr, call)
	}
	log.Print("call it: ", call)
	log.Fatal(http.ListenAndServe(*addr, server))
}
