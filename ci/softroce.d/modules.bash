# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034 # used by the scripts that source this file
# Finds the modules of a kernel in the given folder or where modules_install puts them.

# Sets found to the folder that contains modules.dep.
find_modules() { # FOLDER
	for found in "$1" "$1"/lib/modules/* "$1"/*; do
		[[ ! -e $found/modules.dep ]] || return 0
	done
	return 1
}

no_modules() { # FOLDER
	echo "no modules.dep in $1; name the folder that modules_install wrote, or run" \
		"'depmod -b FOLDER VERSION' if the package was only unpacked"
}
