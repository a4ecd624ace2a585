#!/bin/bash
# Times elicit vet over the whole workspace beside plain go vet, with a warm build cache. A first run is one for which go vet
# has no results in the cache: an unused flag for go vet, and a binary of its own for elicit vet, see to that.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timed() { # name command…
	local name=$1 TIMEFORMAT='%R %U %S'
	shift
	{ time "$@" >"$dir/out" 2>&1 || { cat "$dir/out" >&3; exit 1; }; } 3>&2 2>"$dir/time"
	awk -v name="$name" '{ printf "%-24s %6.2f s, %6.2f s of processor time\n", name, $1, $2 + $3 }' "$dir/time" | tee -a "$dir/times"
}

go build work
go vet work
echo "$(date -u +%F), $(nproc) cores, $(go env GOVERSION) $(go env GOOS)/$(go env GOARCH), $(go list work | wc -l) packages, $(go list -deps -test work | wc -l) with what they are built of and tested with"
for i in $(seq "$rounds"); do
	go build -ldflags "-X main.measured=$RANDOM$RANDOM" -o "$dir/elicit$i" ./cmd/elicit
	timed "go vet, first run" go vet -printf.funcs="measured$RANDOM$RANDOM" work
	timed "elicit vet, first run" "$dir/elicit$i" vet work
	timed "go vet, again" go vet work
	timed "elicit vet, again" "$dir/elicit$i" vet work
done
awk '{ n = substr($0, 1, 24); sub(/ +$/, "", n); split(substr($0, 25), f, " "); wall = f[1] + 0; cpu = f[3] + 0
		if (!(n in w) || wall < w[n]) w[n] = wall
		if (!(n in c) || cpu < c[n]) c[n] = cpu }
	function ratio(t, which) { return t["elicit vet, " which] / t["go vet, " which] }
	END { printf "best: first run %.2f s, %.2f times plain go vet (%.2f times its processor time); again %.2f s, %.2f times\n",
		w["elicit vet, first run"], ratio(w, "first run"), ratio(c, "first run"), w["elicit vet, again"], ratio(w, "again") }' "$dir/times"
