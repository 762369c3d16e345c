# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/release sets the variables
# Builds the package: compiles the sources with Debian's flags, installs them to a folder and writes
# the metadata for dpkg.

# Prints the build targets that are installed, which excludes tests.
package_targets() {
	meson introspect --targets build | python3 -c '
import json, os, sys
for target in json.load(sys.stdin):
    if target["installed"] and target["build_by_default"]:
        for name in target["filename"]:
            print(os.path.relpath(name, sys.argv[1]))' "$tree/build"
}

package_build() {
	local targets
	cd -- "$tree" || exit
	# meson sets the optimization level: -O3, as in ci/bench.
	CFLAGS=$(DEB_CFLAGS_MAINT_STRIP='-g -O2' dpkg-buildflags --get CFLAGS)
	CFLAGS="$CFLAGS $(dpkg-buildflags --get CPPFLAGS)"
	LDFLAGS=$(DEB_BUILD_MAINT_OPTIONS=hardening=+bindnow dpkg-buildflags --get LDFLAGS)
	export CFLAGS LDFLAGS CC=${CC:-gcc}
	quietly meson setup build --prefix=/usr --sysconfdir=/etc --localstatedir=/var \
		--libdir="lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)" \
		--buildtype=release -Dstrip=true
	mapfile -t targets < <(package_targets)
	((${#targets[@]})) || die "meson lists no installed targets"
	quietly ninja -C build "${targets[@]}"
	DESTDIR=$stage quietly meson install -C build --no-rebuild
}

package_stage() {
	local doc=$stage/usr/share/doc/verbmark
	cd -- "$tree" || exit
	gzip -9n "$stage"/usr/share/man/man*/*
	find "$stage/usr/lib" -name '*.so*' -type f -exec chmod a-x {} +
	install -D -m 644 "$parts/default" "$stage/etc/default/verbmark"
	install -D -m 644 "$parts/overrides" "$stage/usr/share/lintian/overrides/verbmark"
	install -D -m 644 "$parts/copyright" "$doc/copyright"
	sed 's/^/ /; s/^ $/ ./' LICENSE >>"$doc/copyright"
	install -m 644 README.md "$doc/README.md"
	maintainer="${DEBFULLNAME:-$(repository log -1 --format=%cn)}"
	maintainer="$maintainer <${DEBEMAIL:-$(repository log -1 --format=%ce)}>"
	gzip -9n >"$doc/changelog.gz" <<END
verbmark ($version) unstable; urgency=medium

  * Built from commit $commit.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
}

# Prints the packages that contain the libraries of the programs, as shlibs dependencies.
package_depends() {
	local objects
	mapfile -t objects < <(find "$stage/usr" -type f \( -path '*/bin/verbmark' -o -name '*.so*' \))
	mkdir -p "$work/debian"
	printf 'Source: verbmark\n\nPackage: verbmark\nArchitecture: any\n' >"$work/debian/control"
	(cd -- "$work" && dpkg-shlibdeps -O "${objects[@]}" 2>"$work/log") |
		sed -n 's/^shlibs:Depends=//p'
}

# Escapes a text for use as the replacement in a sed command delimited by bars.
package_literal() { # TEXT
	sed 's/[\\&|]/\\&/g' <<<"$1"
}

package_control() {
	local depends control=$stage/DEBIAN
	mkdir "$control"
	(cd -- "$stage" && find etc -type f -printf '/%p\n' | LC_ALL=C sort >DEBIAN/conffiles)
	(cd -- "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	printf 'libverbmark 0 verbmark (>= %s)\n' "$version" >"$control/shlibs"
	printf 'activate-noawait ldconfig\n' >"$control/triggers"
	install -m 755 "$parts/postinst" "$parts/prerm" "$parts/postrm" "$control/"
	depends=$(package_depends) || :
	[[ $depends ]] || { cat "$work/log" >&2 && die "dpkg-shlibdeps failed: see above"; }
	sed -e "s|@VERSION@|$version|; s|@ARCH@|$(dpkg --print-architecture)|" \
		-e "s|@MAINTAINER@|$(package_literal "$maintainer")|" \
		-e "s|@DEPENDS@|$(package_literal "$depends")|" \
		-e "s|@SIZE@|$(package_size)|" "$parts/control.in" >"$control/control"
}

# Prints the installed size in KiB as Debian policy counts it, regardless of file system blocks.
package_size() {
	find "$stage/etc" "$stage/usr" -type f -printf '%s\n' |
		awk '{ size += int(($1 + 1023) / 1024) } END { print size }'
}
