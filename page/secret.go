package page

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/form/html"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
)

// Secret asks for the fields of struct T on a page of ours, so that neither the client nor the model sees what is entered:
//
//	type Credentials struct {
//		APIKey page.Hidden `json:"apiKey" elicit:"title=API key,minLength=20"`
//	}
//	var credentials = page.Secret[Credentials]("credentials", "Your key of weather.example.com", page.Remember(30*24*time.Hour))
//
// Fields are those of form.For, validated by the same rules; fields that hold a secret have the type [Hidden] or
// [HiddenText]. Declare the question with elicit.Asks.
//
// The answer is handed to the handler by Require, in each round of the call, and is gone with the call, unless it is to be
// remembered; see [Remember].
func Secret[T any](key, message string, opts ...SecretOption) *elicit.Question[T] {
	return SecretForm(key, message, form.For[T](), opts...)
}

// SecretForm is [Secret] with a form made by form.New, form.For or form.Build.
func SecretForm[T any](key, message string, f *form.Form[T], opts ...SecretOption) *elicit.Question[T] {
	return newSecret(key, message, f, func(v T) T { return v }, func(v T) T { return v }, opts)
}

// SecretInput is [Secret] for one line, in a field called by the key: "apiKey" reads "API Key" on the page.
func SecretInput(key, message string, opts ...SecretOption) *elicit.Question[Hidden] {
	field := form.Text[Hidden](key).Required()
	return newSecret(key, message, form.New(field), field.In, func(h Hidden) (v form.Values) {
		field.Set(&v, h)
		return v
	}, opts)
}

// newSecret is a question for a T, which a form has as an F.
func newSecret[T, F any](key, message string, f *form.Form[F], of func(F) T, in func(T) F, opts []SecretOption) *elicit.Question[T] {
	s := &secret{fields: f.Fields(), schema: f.Schema(), err: f.Err(), validate: f.Validate}
	s.decode = func(content []byte) (any, []byte, bool) {
		d, problems := f.Decode(content)
		return of(d.Value), d.Content(), problems == nil
	}
	s.encode = func(v any) ([]byte, error) {
		x, ok := v.(T)
		if !ok {
			return nil, fmt.Errorf("it takes a %T, not a %T", x, v)
		}
		return f.Encode(in(x))
	}
	for _, o := range opts {
		o(s)
	}
	return question[T](key, message, s)
}

// A SecretOption says more about a secret.
type SecretOption func(*secret)

// Remember keeps the answer in the Vault for so long after it was entered, and gives it to later calls of the same tool by
// the same user and client without asking. For users that are anonymous it does nothing: nobody could tell them apart. When
// a remembered secret turns out to be wrong, [Forget] it.
func Remember(d time.Duration) SecretOption {
	return func(s *secret) {
		s.remember = d
		if d < time.Minute && s.err == nil {
			s.err = fmt.Errorf("Remember(%v) is too short: a minute at least", d)
		}
	}
}

// Forget removes what is remembered of the answer to a question of [Secret] or [Connect], for the caller of ctx: the same
// call, and later ones, ask again when they require it. Use it when the secret was refused where it is used:
//
//	if errors.Is(err, weather.ErrUnauthorized) {
//		if err := page.Forget(ctx, credentials); err != nil {
//			return nil, nil, err
//		}
//		_, err := credentials.Require(ctx) // asks
//		return nil, nil, err
//	}
//
// The tokens of a [Connect] with ConnectOptions.RevocationURL are revoked at the provider, too. They are gone here whatever it
// says; the error matches [ErrNotRevoked] if it does not do it.
func Forget[T any](ctx context.Context, question *elicit.Question[T]) error {
	return tool.Forget(ctx, question)
}

// secret is the flow of Secret.
type secret struct {
	fields   iter.Seq2[string, form.Property]
	schema   []byte
	err      error
	validate func(content []byte) []form.Problem
	decode   func(content []byte) (value any, kept []byte, ok bool)
	encode   func(value any) ([]byte, error)
	remember time.Duration
}

func (s *secret) Err() error {
	if s.err != nil {
		return s.err
	}
	for range s.fields {
		return nil
	}
	return errors.New("its form has no fields")
}

func (s *secret) Shape() state.Digest { return state.DigestOf("secret", string(s.schema)) }

func (s *secret) start(context.Context, *Pages, *tool.Asking) (string, error) { return "", nil }

func (s *secret) answer(ctx context.Context, p *Pages, a *tool.Asking, done []byte) (any, bool, error) {
	if done == nil && s.remember > 0 && a.Subject != "" {
		kept, err := p.load(ctx, valueEntry(valueDigest(a)))
		if err != nil {
			return nil, false, err
		}
		if kept != nil {
			done = kept.plain
		}
	}
	if done == nil {
		return nil, false, nil
	}
	v, _, ok := s.decode(done)
	return v, ok, nil
}

func (s *secret) show(v *visit, w *view) error { return s.showProblems(v, w, nil) }

func (s *secret) showProblems(v *visit, w *view, problems []form.Problem) (err error) {
	opts := &html.Options{Problems: problems, Focus: true}
	if problems != nil {
		opts.Values = html.Values(html.Content(s.fields, v.r.PostForm)) // hidden ones are not filled in
	}
	w.Fields, err = html.Fields(s.fields, opts)
	w.Button, w.Wrong = "Send", problems != nil
	return err
}

func (s *secret) post(v *visit) {
	content := html.Content(s.fields, v.r.PostForm)
	if problems := s.validate(content); problems != nil {
		v.again(problems)
		return
	}
	_, kept, _ := s.decode(content)
	v.complete(kept, func(ctx context.Context) error { return s.keep(ctx, v.pages, v.ticket, kept) })
}

// keep remembers an answer, if it is to be.
func (s *secret) keep(ctx context.Context, p *Pages, t *ticket, content []byte) error {
	if s.remember == 0 || t.User == (state.Digest{}) {
		return nil
	}
	return p.put(ctx, Entry{Key: valueEntry(t.Value), Owner: t.owner(), Expires: p.shop.Now().Add(s.remember)}, content)
}

// completeAs implements completer.
func (s *secret) completeAs(ctx context.Context, p *Pages, t *ticket, value any) error {
	content, err := s.encode(value)
	if err != nil {
		return err
	}
	if problems := s.validate(content); problems != nil {
		return errors.New(problems[0].Requirement)
	}
	_, kept, _ := s.decode(content)
	_, err = p.conclude(ctx, t, accepted, kept, func(ctx context.Context) error { return s.keep(ctx, p, t, kept) })
	return err
}
