# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/release sets the variables
# Builds the packages from the unpacked sources in $tree, and collects them in $work.

# Escapes a text for use as the replacement in a sed command delimited by bars.
package_literal() { # TEXT
	sed 's/[\\&|]/\\&/g' <<<"$1"
}

# Fills in what comes from meson.build, ci/packages and git.
package_fill() { # FILE...
	local needs
	needs=$(awk '$1 == "build" && $2 !~ /^(gcc|libc6-dev)$/ { print $2 }' "$top/ci/packages")
	sed -i -e "s|@VERSION@|$version|" \
		-e "s|@MAINTAINER@|$(package_literal "$maintainer")|" \
		-e "s|@DATE@|$(date -u -R -d "@$SOURCE_DATE_EPOCH")|" \
		-e "s|@BUILD_DEPENDS@|debhelper-compat (= 13), ${needs//$'\n'/, }|" "$@"
}

package_debian() {
	cd -- "$tree" || exit
	cp -R ci/release.d/debian debian
	package_fill debian/control debian/changelog
	sed 's/^/ /; s/^ $/ ./' LICENSE >>debian/copyright
	# With several threads, xz compresses into blocks and the result depends on their number.
	DPKG_DEB_THREADS_MAX=1 CC=${CC:-gcc} quietly dpkg-buildpackage --build=binary --no-sign \
		--jobs="$(nproc)"
}

# Prints the entries of a Debian changelog as those of an RPM spec.
package_changes() { # FILE
	awk '/^[^ ]/ { version = substr($2, 2, length($2) - 2) }
		/^  / {
			sub(/^  \* /, "- ")
			sub(/^    /, "  ")
			gsub(/%/, "%%")
			lines = lines $0 "\n"
		}
		/^ -- / {
			split(substr($0, 5), part, /  /)
			split(part[2], date, /[ ,]+/)
			printf "* %s %s %s %s %s - %s-1\n%s\n", date[1], date[3], date[2], date[4],
				part[1], version, lines
			lines = ""
		}' "$1"
}

package_spec() {
	cp "$tree/ci/release.d/verbmark.spec" "$work/"
	package_fill "$work/verbmark.spec"
	package_changes "$tree/debian/changelog" >>"$work/verbmark.spec"
}
