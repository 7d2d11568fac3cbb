#!/bin/sh
# Records the shader programs that some games build, over many sessions. Each session is a separate process.
# make_trace.py made tests/fixtures/programs.txt from the output. Needs Xvfb, the Debian packages below with their
# folders of games in PATH, and time.
#
#   tools/program_trace/record.sh FOLDER    one file per session, 01-supertuxkart-hacienda.txt and so on
#
#   supertuxkart redeclipse 0ad glmark2-x11 stellarium
#
# SESSIONS  the sessions to record (default: all of sessions.txt)
# SECONDS_EACH  duration of a session in seconds (default 40)
# AS_USER   the command that runs 0ad as another user, because 0ad refuses to run as root (default setpriv)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
sessions=${SESSIONS:-$here/sessions.txt}
seconds=${SECONDS_EACH:-40}

[ -e "$folder/record.so" ] || cc -O2 -shared -fPIC -o "$folder/record.so" "$here/record.c" -ldl
export LIBGL_ALWAYS_SOFTWARE=1 SDL_AUDIODRIVER=dummy HOME="$folder/home"
mkdir -p "$HOME" "$folder/other-home"
chmod 777 "$folder" "$folder/other-home"

# Mesa reports the size of a binary only while its own cache is enabled. So the cache is enabled, and empty.
record() {
    rm -rf "$folder/mesa"
    mkdir -m 777 "$folder/mesa"
    MESA_SHADER_CACHE_DIR=$folder/mesa PROGRAM_TRACE=$folder/$session.txt LD_PRELOAD=$folder/record.so \
        timeout -s KILL "$seconds" "$@" </dev/null >"$folder/$session.log" 2>&1 || true
}

number=0
while read -r game level; do
    number=$((number + 1))
    session=$(printf '%02d-%s-%s' "$number" "$game" "$(echo "$level" | tr -c 'a-z0-9\n' _)")
    [ -s "$folder/$session.txt" ] && continue
    echo "$session"
    case $game in
    supertuxkart)
        record supertuxkart --no-start-screen "--track=$level" --profile-time=600 --numkarts=5 --screensize=640x360 --windowed --no-sound ;;
    redeclipse) (cd "${REDECLIPSE:-/usr/share/games/redeclipse}" && record "${REDECLIPSE_BINARY:-/usr/lib/games/redeclipse/redeclipse}" -df0 -dw640 -dh360 "-xmode 2; map $level") ;;
    0ad) record env "HOME=$folder/other-home" ${AS_USER:-setpriv --reuid=65534 --regid=65534 --clear-groups} pyrogenesis "-autostart=skirmishes/$level" -autostart-ai=2:petra -xres=640 -yres=360 ;;
    glmark2) record glmark2 ${GLMARK2_DATA:+--data-path "$GLMARK2_DATA"} -s 320x200 -b :duration=0.3 ${level:+$(for scene in $level; do echo "-b $scene"; done)} ;;
    stellarium) record stellarium ;;
    esac
done <"$sessions"
