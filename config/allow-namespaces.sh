#!/bin/sh
# Lets one program make user namespaces where AppArmor keeps them from ordinary users, as on Ubuntu 24.04 and its
# hosted runners: loads a profile that confines nothing and names the program. It needs sudo without a password.
# Where that fails, commands are judged by their words. Never fails itself.
# Source: https://documentation.ubuntu.com/security/security-features/privilege-restriction/apparmor/
#
# Usage: allow-namespaces.sh PROGRAM [SWITCH]
set -u

program=$(readlink -f -- "$1") || exit 0
switch=${2:-/proc/sys/kernel/apparmor_restrict_unprivileged_userns}
profile=/etc/apparmor.d/locum

# 1: an ordinary user makes no namespaces without a profile.
if [ ! -r "$switch" ] || [ "$(cat "$switch")" != 1 ]; then
    exit 0
fi
fail() {
    echo "Commands get no namespaces here ($1), so they are judged by their words."
    exit 0
}
case $program in
*[!A-Za-z0-9/._+-]*) fail "the path of the program has special characters" ;;
esac
text="abi <abi/4.0>,
profile locum $program flags=(unconfined) {
  userns,
}"
printf '%s\n' "$text" | sudo -n tee "$profile" >/dev/null 2>&1 || fail "no sudo without a password"
sudo -n apparmor_parser --replace "$profile" >/dev/null 2>&1 || fail "AppArmor refused the profile"
echo "Commands get namespaces: the AppArmor profile $profile lets $program make them."
