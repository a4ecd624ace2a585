module github.com/elicit-go/elicit/cmd/elicit

go 1.26

replace github.com/elicit-go/elicit => ../..
