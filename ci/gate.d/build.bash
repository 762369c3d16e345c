# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # ci/gate sets the variables
# Revisions and their builds. A build is a folder KEY of the cache: tree, where it was made
# and stays, built, which is there once it is whole, and log.

default_build='test -f build/build.ninja || meson setup build -Dbuildtype=release
meson compile -C build bench/verbmark:executable verbmark-soft'

# What fails by itself is no verdict, as its status of 1 would be.
set -E
trap on_fault ERR

on_fault() {
	local status=$?
	# Of a subshell, which has said why.
	case $status in
	2 | 3 | 125 | 128) exit "$status" ;;
	esac
	refuse "line ${BASH_LINENO[0]}: $BASH_COMMAND: status $status"
}

# The repository is named to git, which looks into none that belongs to another user.
find_repository() {
	project=$(cd -- "$project" 2>/dev/null && pwd) || refuse "--project: there is no such folder"
	repository=$project
	[[ ! -e $project/.git ]] || repository=$project/.git
	objects=$(git --git-dir="$repository" rev-parse --git-path objects 2>/dev/null) ||
		refuse "--project: $project is no git repository"
	objects=$(cd -- "$objects" && pwd)
	how=$(how_built | sha256sum)
	[[ $repository == "$project" ]] ||
		git --git-dir="$repository" --work-tree="$project" diff --quiet HEAD -- 2>/dev/null ||
		say "what is not committed in $project is not measured"
}

commit_of() { # REVISION
	git --git-dir="$repository" rev-parse --verify --quiet --end-of-options "$1^{commit}" ||
		refuse "there is no revision '$1' in $project$(is_shallow &&
			echo '; it is a shallow clone: fetch all of it (fetch-depth: 0, GIT_DEPTH: 0)')"
}

is_shallow() {
	[[ $(git --git-dir="$repository" rev-parse --is-shallow-repository) == true ]]
}

# A build of other commands, by another compiler or on another system, is another build.
how_built() {
	printf '%s\n' "${build:-$default_build}" "$project" "${CC:-gcc}" "${CXX-}" "${CFLAGS-}" \
		"${CXXFLAGS-}" "${CPPFLAGS-}" "${LDFLAGS-}" "${PKG_CONFIG_PATH-}"
	# shellcheck disable=SC2086 # a compiler, and a cache before it
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
		driver=$(command -v -- "$driver") || refuse "--driver: there is no such program"
		[[ $driver == /* ]] || driver=$PWD/$driver
		return
	fi
	driver=$top/build-gate/bench/verbmark
	lock "$cache/driver.lock"
	say "building the driver, in $top/build-gate"
	# A setup that was interrupted leaves a folder that nothing can be built in.
	(
		cd -- "$top" && ci/setup build && { test -f build-gate/build.ninja ||
			{ rm -rf build-gate && CC=${CC:-gcc} meson setup build-gate -Dbuildtype=release; }; } &&
			meson compile -C build-gate bench/verbmark:executable verbmark-soft
	) >"$cache/driver.log" 2>&1 </dev/null 9>&- || {
		tail -n 20 "$cache/driver.log" >&2
		refuse "the driver cannot be built here; --driver names another verbmark"
	}
}

# Until the next one, or unlock.
lock() { # FILE
	exec 9>"$1" || refuse "--cache: $1 cannot be locked"
	flock -n 9 || {
		say "waiting for another build: $1"
		flock 9 || refuse "--cache: $1 cannot be locked"
	}
}

# What is run then has no part of it.
unlock() {
	exec 9>&-
}

# As git clone --shared does it, which would ask whose repository it is. A build may want to
# know what the revision is called, and where it is from.
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
	# Without all of them it would be another build. Those of a folder are the project's own.
	[[ ! -e $2/.gitmodules ]] ||
		git -C "$2" -c protocol.file.allow=always submodule --quiet update --init --recursive
}

build_revision() { # COMMIT
	local folder
	folder=$(folder_of "$1")
	mkdir -p -- "$folder" || refuse "--cache: $folder cannot be made"
	lock "$folder/lock"
	if [[ ! -e $folder/built ]]; then
		say "building ${1:0:12}, in $folder"
		rm -rf -- "$folder/tree" || refuse "--cache: $folder/tree cannot be removed"
		{ check_out "$1" "$folder/tree" && build_tree "$folder/tree"; } \
			>"$folder/log" 2>&1 </dev/null 9>&- || {
			tail -n 20 "$folder/log" >&2
			invalid "$1" "${1:0:12} cannot be built: see above, and $folder/log"
		}
		touch "$folder/built" || refuse "--cache: $folder/built cannot be made"
	fi
	[[ $arm || -x $folder/tree/$program ]] ||
		invalid "$1" \
			"${1:0:12} was built, but made no $program; --program tells what it makes"
}

build_tree() { # TREE
	if [[ ! $build ]]; then
		"$ci/setup" build || return
	fi
	(cd -- "$1" && CC=${CC:-gcc} exec bash -ec "${build:-$default_build}")
}
