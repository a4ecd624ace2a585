package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/elicit-go/elicit/internal/tool"
	"golang.org/x/oauth2"
)

// ErrNotRevoked matches the error of [Forget] when the tokens of a [Connect] are gone here, and the provider did not revoke
// them, or did not say that it has. The user can, in the provider's settings. To ask anew, a handler may go on.
var ErrNotRevoked = errors.New("page: the sign-in is forgotten here, but was not revoked at the provider")

// forget removes the grant of a question from the vault, and revokes it. What the provider says of it, it says too late to
// keep anything.
func (c *connect) forget(ctx context.Context, p *Pages, a *tool.Asking) error {
	at, ok := c.slot(p, a)
	if !ok {
		return nil
	}
	g, ok, err := at.take(ctx)
	if err != nil || !ok || c.opts.RevocationURL == "" {
		return err
	}
	return at.revoke(ctx, g)
}

// take takes the grant out of the vault, the latest one if it is refreshed meanwhile. ok is false if there is none.
func (at slot) take(ctx context.Context) (_ grant, ok bool, _ error) {
	for range 16 {
		s, g, err := at.load(ctx)
		if err != nil || s == nil {
			return grant{}, false, err
		}
		if at.head == "" {
			ok, err = at.pages.remove(ctx, s)
		} else {
			ok, err = at.pages.swap(ctx, s, []byte{ended}, s.Expires)
		}
		if err != nil {
			return grant{}, false, at.pages.vaultFailed(ctx, err)
		}
		if ok {
			return g, true, nil
		}
	}
	return grant{}, false, errors.New("page: an entry of the vault is written by too many at once")
}

// revoke ends at the provider what is in no vault any more. The error matches ErrNotRevoked.
func (at slot) revoke(ctx context.Context, g grant) error {
	c, log := at.flow, at.pages.shop.Logger.With("key", at.question, "name", at.name, "provider", at.flow.opts.Provider)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTimeout)
	defer cancel()
	var err error
	if g.Refresh != "" { // its access tokens should go with it, but need not (RFC 7009, section 2.1)
		err = c.revokeToken(ctx, "refresh_token", g.Refresh)
	}
	if g.Expires.IsZero() || at.pages.shop.Now().Before(g.Expires) {
		switch failed, refused := c.revokeToken(ctx, "access_token", g.Access), (*endpointError)(nil); {
		case g.Refresh != "" && errors.As(failed, &refused) && refused.code == "unsupported_token_type": // then it expires soon
		case err == nil:
			err = failed
		}
	}
	if err != nil {
		log.WarnContext(ctx, "page: a sign-in was forgotten, and could not be revoked", "reason", err)
		return fmt.Errorf("%w (%s): %w", ErrNotRevoked, c.opts.Provider, err)
	}
	log.InfoContext(ctx, "page: a sign-in was revoked")
	return nil
}

// drop revokes a grant that was got for nobody. There is nobody to tell, but the log.
func (at slot) drop(ctx context.Context, g grant) {
	if at.flow.opts.RevocationURL != "" {
		_ = at.revoke(ctx, g)
	}
}

// revokeToken revokes one token (RFC 7009, section 2.1).
func (c *connect) revokeToken(ctx context.Context, hint, token string) error {
	styles := []oauth2.AuthStyle{c.config.Endpoint.AuthStyle}
	if styles[0] == oauth2.AuthStyleAutoDetect { // unlike a code, a token may be sent twice
		styles = []oauth2.AuthStyle{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams}
	}
	var err error
	for _, style := range styles {
		err = c.sendRevocation(ctx, style, url.Values{"token": {token}, "token_type_hint": {hint}})
		if refused, ok := errors.AsType[*endpointError](err); !ok || refused.status != http.StatusUnauthorized {
			break
		}
	}
	return err
}

func (c *connect) sendRevocation(ctx context.Context, style oauth2.AuthStyle, body url.Values) error {
	const endpoint = "the revocation endpoint"
	if style != oauth2.AuthStyleInHeader { // RFC 6749, section 2.3.1
		body.Set("client_id", c.config.ClientID)
		if c.config.ClientSecret != "" {
			body.Set("client_secret", c.config.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.opts.RevocationURL, strings.NewReader(body.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if style == oauth2.AuthStyleInHeader {
		req.SetBasicAuth(url.QueryEscape(c.config.ClientID), url.QueryEscape(c.config.ClientSecret))
	}
	res, err := c.opts.Client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return &unreachableError{endpoint, err}
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusNoContent {
		return nil
	}
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(answer, &said)
	if said.Error == "invalid_token" && res.StatusCode == http.StatusBadRequest {
		return nil // it is no token any more. That is no error (RFC 7009, section 2.2), but some say so
	}
	return &endpointError{endpoint, res.StatusCode, errorCode(said.Error)}
}

// unreachableError says why only to the log: addresses inside a network are not the model's business.
type unreachableError struct {
	endpoint string
	cause    error
}

func (e *unreachableError) Error() string { return e.endpoint + " cannot be reached" }
func (e *unreachableError) LogValue() slog.Value {
	return slog.StringValue(e.Error() + ": " + e.cause.Error())
}

// endpointError is an error response of an endpoint of the provider's.
type endpointError struct {
	endpoint string
	status   int
	code     string
}

func (e *endpointError) Error() string {
	return fmt.Sprintf("%s answered HTTP %d, error %q", e.endpoint, e.status, e.code)
}

// final reports whether the refresh token is good for nothing any more. The codes for it differ (RFC 6749, section 5.2, has
// invalid_grant), so it is what is not for another reason.
func (e *endpointError) final() bool {
	switch e.code {
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "server_error", "temporarily_unavailable", "slow_down":
		return false // this server's fault, or the provider's
	}
	return e.code != "" && e.status < 500 && e.status != http.StatusTooManyRequests
}
