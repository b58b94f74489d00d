#!/bin/sh
# Runs a command on a display of its own, and lets it read the screen: $TEST_SCREEN is that as a file, in xwd's format.
# A folder for each run: a server that is still going removes its file, and must not take another's. xvfb-run takes no
# TMPDIR with a space in it. With -noreset the server does not begin anew, and refuse whoever comes in that moment, when its
# last client goes.
folder=$(mktemp -d -p /tmp) || exit 4
trap 'rm -rf "$folder"' EXIT
TEST_SCREEN=$folder/Xvfb_screen0 TMPDIR=$folder xvfb-run -a -s "-screen 0 1600x1200x24 -noreset -fbdir $folder" \
    env ${TMPDIR:+"TMPDIR=$TMPDIR"} "$@"
