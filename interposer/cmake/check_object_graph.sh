#!/bin/sh
# Draws the graph of the library's object files from their symbols (an arrow leads to who defines what is used), and
# checks that no arrow points up, that there is no circle, and that nothing but the hooks is linked to malloc's family,
# which is our own. Prints the arrows between folders, as a Mermaid diagram.
#
#     check_object_graph.sh OBJECT... : files .../FOLDER/NAME.c.o
set -eu
# From below to above. Folders of one rank do not know each other.
ranks='platform:1 allocator:2 account:3 sample:4 leak:5 jvm:5 hooks:6 control:7'
family='^(malloc|free|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|valloc|pvalloc|malloc_usable_size'
family="$family|cfree|free_sized|free_aligned_sized|sdallocx|_Zn.*|_Zd.*|strn?dup|mmap|mmap64|munmap|mremap)\$"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -A "$@" | awk '
  {
    end = index($0, ".c.o:")
    parts = split(substr($0, 1, end - 1), path, "/")
    name = path[parts - 1] "/" path[parts]
    $0 = substr($0, end + 5)
  }
  NF == 2 && ($1 == "U" || $1 == "w") { print "use", name, $2 }
  NF == 3 && $2 ~ /[A-Z]/ && $2 !~ /[VW]/ { print "definition", name, $3 }
  NF == 3 && $2 ~ /[VW]/ { print "default", name, $3 }' >"$work/symbols"

# What may be replaced from above is known by its default, which lies below.
awk '
  $1 == "definition" && !($3 in definer) { definer[$3] = $2 }
  $1 == "default" { definer[$3] = $2 }
  $1 == "use" { uses[NR] = $2 " " $3 }
  END {
    for (use in uses) {
      split(uses[use], word, " ")
      if (word[2] in definer && definer[word[2]] != word[1]) print word[1], definer[word[2]], word[2]
    }
  }' "$work/symbols" | sort -u >"$work/arrows"
[ -s "$work/arrows" ] || {
  echo "no arrows: are these the objects?"
  exit 1
}

failed=0
up=$(awk -v ranks="$ranks" '
  BEGIN { n = split(ranks, pairs, " "); for (i = 1; i <= n; i++) { split(pairs[i], pair, ":"); rank[pair[1]] = pair[2] } }
  {
    split($1, from, "/"); split($2, to, "/")
    if (!(from[1] in rank) || !(to[1] in rank)) print "has no rank: " $1 " or " $2
    else if (from[1] != to[1] && rank[to[1]] >= rank[from[1]]) print "points up: " $1 " -> " $2 " (" $3 ")"
  }' "$work/arrows")
if [ -n "$up" ]; then
  echo "$up"
  failed=1
fi
if ! cut -d ' ' -f 1,2 "$work/arrows" | tsort >/dev/null 2>"$work/circle"; then
  sed -n 's|^tsort: \(.*/\)|in a circle: \1|p' "$work/circle" | sort -u
  failed=1
fi
own=$(awk -v family="$family" '$1 == "use" && $2 !~ /^hooks\// && $3 ~ family { print "calls our own " $3 ": " $2 }' "$work/symbols")
if [ -n "$own" ]; then
  echo "$own"
  failed=1
fi

echo "flowchart TD"
awk '{ split($1, from, "/"); split($2, to, "/"); if (from[1] != to[1]) print "  " from[1] " --> " to[1] }' "$work/arrows" | sort -u
exit $failed
