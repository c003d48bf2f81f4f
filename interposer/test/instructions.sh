# Sourced by the checks of costs, whose arguments are VALGRIND PROGRAM LIBRARY.
valgrind=$1
program=$2
library=$3

# instructions ROUNDS KIND [SIZE]: prints the instructions of so many rounds of a kind, without the start (measured.h).
# Fails if callgrind or the program fails, or if a round takes less than an instruction.
#
# The padding makes all command lines equally long. They lie below the stack, whose address decides which places of the
# library's tables are used.
instructions() {
  rounds=$1
  kind=$2
  shift 2
  said=$(PADDING=$(printf '%*s' $((20 - ${#kind})) '') LD_PRELOAD=$library "$valgrind" --tool=callgrind \
    --callgrind-out-file=/dev/null --zero-before=measure_from_here "$program" "$kind" "$rounds" "$@" 2>&1) &&
    collected=$(printf '%s\n' "$said" | sed -n 's/.*Collected : \([0-9]*\).*/\1/p') &&
    [ "${collected:-0}" -gt "$rounds" ] || { printf '%s\n' "$said" >&2; return 1; }
  echo "$collected"
}

# each KIND [SIZE]: prints the instructions of one round.
each() {
  of_rounds=$(instructions 20000 "$@") || return 1
  echo $(((of_rounds + 10000) / 20000))
}
