# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034 # for who sources it
# Where the modules of a kernel are: in the folder itself, or where modules_install put them.

# Sets found to the folder that modules.dep is in.
find_modules() { # FOLDER
	for found in "$1" "$1"/lib/modules/* "$1"/*; do
		[[ ! -e $found/modules.dep ]] || return 0
	done
	return 1
}

no_modules() { # FOLDER
	echo "no modules.dep in $1: is it where modules_install put the modules? Of a package that was only" \
		"unpacked, depmod -b FOLDER VERSION writes it"
}
