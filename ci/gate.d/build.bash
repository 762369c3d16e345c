# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/gate sets the variables
# Revisions and their builds. Each build is a folder of the cache that contains the source tree
# (tree), a log (log) and, once the build is complete, a marker (built). Trees are never moved.

default_build='test -f build/build.ninja || meson setup build -Dbuildtype=release
meson compile -C build bench/verbmark:executable verbmark-soft'

# A command that fails unexpectedly must not exit with 1, which would be a verdict.
set -E
trap on_fault ERR

on_fault() {
	local status=$?
	# The subshell that failed has already printed the reason.
	case $status in
	2 | 3 | 125 | 128) exit "$status" ;;
	esac
	refuse "line ${BASH_LINENO[0]}: $BASH_COMMAND: exit status $status"
}

# Names the repository explicitly because git rejects one that belongs to another user.
find_repository() {
	project=$(cd -- "$project" 2>/dev/null && pwd) || refuse "--project: no folder '$project'"
	repository=$project
	[[ ! -e $project/.git ]] || repository=$project/.git
	objects=$(git --git-dir="$repository" rev-parse --git-path objects 2>/dev/null) ||
		refuse "--project: $project is not a git repository"
	objects=$(cd -- "$objects" && pwd)
	how=$(how_built | sha256sum)
	[[ $repository == "$project" ]] ||
		git --git-dir="$repository" --work-tree="$project" diff --quiet HEAD -- 2>/dev/null ||
		say "uncommitted changes in $project are not measured"
}

commit_of() { # REVISION
	git --git-dir="$repository" rev-parse --verify --quiet --end-of-options "$1^{commit}" ||
		refuse "unknown revision '$1' in $project$(is_shallow &&
			echo '; the clone is shallow: fetch the full history (fetch-depth: 0, GIT_DEPTH: 0)')"
}

is_shallow() {
	[[ $(git --git-dir="$repository" rev-parse --is-shallow-repository) == true ]]
}

# Prints everything that a build depends on besides the commit. Builds are reused if it matches.
how_built() {
	printf '%s\n' "${build:-$default_build}" "$project" "${CC:-gcc}" "${CXX-}" "${CFLAGS-}" \
		"${CXXFLAGS-}" "${CPPFLAGS-}" "${LDFLAGS-}" "${PKG_CONFIG_PATH-}"
	# shellcheck disable=SC2086 # CC may be a compiler launcher and a compiler
	${CC:-gcc} --version 2>/dev/null || :
	uname -m
	cat /etc/os-release 2>/dev/null || :
}

folder_of() { # COMMIT
	echo "$cache/$1-${how:0:12}"
}

arm_of() { # COMMIT
	local tree
	tree=$(folder_of "$1")/tree
	if [[ $arm ]]; then
		echo "${arm//\{\}/"$tree"}"
	else
		echo "$tree/$program"
	fi
}

find_driver() {
	if [[ $driver ]]; then
		driver=$(command -v -- "$driver") || refuse "--driver: no program '$driver'"
		[[ $driver == /* ]] || driver=$PWD/$driver
		return
	fi
	driver=$top/build-gate/bench/verbmark
	lock "$cache/driver.lock"
	say "building the driver in $top/build-gate"
	# An interrupted setup leaves a folder that cannot be built in.
	(
		cd -- "$top" && ci/setup build && { test -f build-gate/build.ninja ||
			{ rm -rf build-gate && CC=${CC:-gcc} meson setup build-gate -Dbuildtype=release; }; } &&
			meson compile -C build-gate bench/verbmark:executable verbmark-soft
	) >"$cache/driver.log" 2>&1 </dev/null 9>&- || {
		tail -n 20 "$cache/driver.log" >&2
		refuse "cannot build the driver: see above; name another verbmark with --driver"
	}
}

# Holds the lock until the next call of lock or unlock.
lock() { # FILE
	exec 9>"$1" || refuse "--cache: cannot lock $1"
	flock -n 9 || {
		say "waiting for another build, which holds $1"
		flock 9 || refuse "--cache: cannot lock $1"
	}
}

# Processes started later must not inherit the lock.
unlock() {
	exec 9>&-
}

# Does what git clone --shared does, but accepts a repository that belongs to another user. A build
# may need the tags and the URL of the origin.
check_out() { # COMMIT TREE
	local origin
	origin=$(git --git-dir="$repository" config --get remote.origin.url) || origin=$project
	[[ $origin == *:* || $origin == /* ]] || origin=$project/$origin
	git init -q "$2" && echo "$objects" >"$2/.git/objects/info/alternates" &&
		{ ! is_shallow || cp -- "$objects/../shallow" "$2/.git/shallow"; } &&
		git --git-dir="$repository" for-each-ref --format='create %(refname) %(objectname)' \
			refs/tags | git -C "$2" update-ref --stdin &&
		git -C "$2" config remote.origin.url "$origin" &&
		git -C "$2" -c advice.detachedHead=false checkout -q --detach "$1" || return
	# A revision needs its submodules; a submodule URL may be a local folder.
	[[ ! -e $2/.gitmodules ]] ||
		git -C "$2" -c protocol.file.allow=always submodule --quiet update --init --recursive
}

build_revision() { # COMMIT
	local folder
	folder=$(folder_of "$1")
	mkdir -p -- "$folder" || refuse "--cache: cannot create $folder"
	lock "$folder/lock"
	if [[ ! -e $folder/built ]]; then
		say "building ${1:0:12} in $folder"
		rm -rf -- "$folder/tree" || refuse "--cache: cannot remove $folder/tree"
		{ check_out "$1" "$folder/tree" && build_tree "$folder/tree"; } \
			>"$folder/log" 2>&1 </dev/null 9>&- || {
			tail -n 20 "$folder/log" >&2
			invalid "$1" "cannot build ${1:0:12}: see above, and $folder/log"
		}
		touch "$folder/built" || refuse "--cache: cannot create $folder/built"
	fi
	[[ $arm || -x $folder/tree/$program ]] ||
		invalid "$1" \
			"the build of ${1:0:12} did not produce $program; name its program with --program"
}

build_tree() { # TREE
	if [[ ! $build ]]; then
		"$ci/setup" build || return
	fi
	(cd -- "$1" && CC=${CC:-gcc} exec bash -ec "${build:-$default_build}")
}
