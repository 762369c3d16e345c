# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/release sets the variables
# The package: the sources are built as Debian builds, installed into a folder, and given
# what dpkg wants to know of them.

# Of what is built, what is installed: no tests.
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
	# How much is optimised is meson's to say: -O3 as in ci/bench.
	CFLAGS=$(DEB_CFLAGS_MAINT_STRIP='-g -O2' dpkg-buildflags --get CFLAGS)
	CFLAGS="$CFLAGS $(dpkg-buildflags --get CPPFLAGS)"
	LDFLAGS=$(DEB_BUILD_MAINT_OPTIONS=hardening=+bindnow dpkg-buildflags --get LDFLAGS)
	export CFLAGS LDFLAGS CC=${CC:-gcc}
	quietly meson setup build --prefix=/usr --sysconfdir=/etc --localstatedir=/var \
		--libdir="lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)" \
		--buildtype=release -Dstrip=true
	mapfile -t targets < <(package_targets)
	((${#targets[@]})) || die "meson tells of nothing that is installed"
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

  * Built of commit $commit.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
}

# What the programs are linked with, in the words of the packages that have it.
package_depends() {
	local objects
	mapfile -t objects < <(find "$stage/usr" -type f \( -path '*/bin/verbmark' -o -name '*.so*' \))
	mkdir -p "$work/debian"
	printf 'Source: verbmark\n\nPackage: verbmark\nArchitecture: any\n' >"$work/debian/control"
	(cd -- "$work" && dpkg-shlibdeps -O "${objects[@]}" 2>"$work/log") |
		sed -n 's/^shlibs:Depends=//p'
}

# A text as what sed puts in the place of another, between bars.
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

# In KiB, and as policy counts: not by the blocks of this file system.
package_size() {
	find "$stage/etc" "$stage/usr" -type f -printf '%s\n' |
		awk '{ size += int(($1 + 1023) / 1024) } END { print size }'
}
