package main

import (
	"testing"

	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/page"
)

func TestForecast(t *testing.T) {
	_, shop := newHandler("http://localhost:5284")
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		tr := elicittest.Call(t, shop.MCP(), version, "Forecast", Place{City: "Oslo"},
			elicittest.Accept(account, Account{APIKey: page.NewHidden("wx-1234567"), Plan: "paid"}))
		if got := tr.Text(); got != "Sunny in Oslo (paid plan)." {
			t.Errorf("%s: %s", version, got)
		}
		if len(tr.Asked) != 1 || tr.Asked[0].URL == "" {
			t.Errorf("%s: asked %+v", version, tr.Asked)
		}
	}
}

// A key that the service refuses is asked for again.
func TestWrongKey(t *testing.T) {
	ctx := elicittest.Context(t, elicittest.Accept(account, Account{APIKey: page.NewHidden("no such key")}))
	_, _, err := forecast(ctx, nil, Place{})
	asked := elicittest.Asked(ctx)
	if err == nil || len(asked) != 1 || asked[0].Message != "weather.example.com does not know that key. Your account there" {
		t.Errorf("got %v, asked %+v", err, asked)
	}
}
