#!/bin/sh
# Usage: check_hardening.sh READELF PROGRAM...
# Each program is position independent, has its relocations read-only before main, no executable stack, and calls
# libc's checked functions and the stack protector.
set -eu
readelf=$1
shift
for program in "$@"; do
    headers=$("$readelf" --wide --file-header --program-headers --dynamic "$program")
    symbols=$("$readelf" --wide --dyn-syms "$program")
    lacks() {
        echo "$program lacks $1" >&2
        exit 1
    }
    echo "$headers" | grep -q 'Type: *DYN' || lacks "position independence"
    echo "$headers" | grep -q 'GNU_RELRO' || lacks "read-only relocations"
    echo "$headers" | grep -Eq 'FLAGS.*BIND_NOW|FLAGS_1.*NOW' || lacks "relocations before main"
    echo "$headers" | grep -q 'GNU_STACK.* RW  ' || lacks "a stack without code"
    echo "$symbols" | grep -q '__stack_chk_fail' || lacks "the stack protector"
    echo "$symbols" | grep -q '_chk@' || lacks "libc's checked functions"
done
