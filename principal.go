package elicit

import (
	"context"
	"errors"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Principal is who makes a request: the user, and the client that acts for the user. The zero Principal is anonymous.
//
// What one principal was asked cannot be answered by another (MCP 2026-07-28, basic/patterns/mrtr, server requirements).
type Principal struct {
	Issuer  string // who vouches for Subject: the issuer of the token
	Subject string // the user, as Issuer names them
	Client  string // the OAuth client that the token was given to
}

var errNoUser = errors.New("the request has a token without a UserID, so nobody can be told from anybody else: " +
	"set TokenInfo.UserID in the token verifier, or set Options.Principal")

// defaultPrincipal reads the token that auth.RequireBearerToken verified.
func defaultPrincipal(_ context.Context, extra *mcp.RequestExtra) (Principal, error) {
	if extra == nil || extra.TokenInfo == nil {
		return Principal{}, nil
	}
	t := extra.TokenInfo
	if t.UserID == "" {
		return Principal{}, errNoUser
	}
	text := func(names ...string) string {
		for _, n := range names {
			if s, _ := t.Extra[n].(string); s != "" {
				return s
			}
		}
		return ""
	}
	return Principal{Issuer: text("iss"), Subject: t.UserID, Client: text("client_id", "azp")}, nil
}

func (p Principal) digest() state.Digest { return state.DigestOf(p.Issuer, p.Subject, p.Client) }
