#compdef verbmark
# SPDX-License-Identifier: MIT
# Completion for zsh. Commands, options and values are read from verbmark's own help.

# Prints the commands with their summaries, as _describe takes them.
_verbmark_commands() { # VERBMARK
	$1 --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p'
}

_verbmark_options() { # VERBMARK COMMAND
	$1 $2 --help-all 2>/dev/null |
		sed -nE 's/^  (-., |    )(--[a-z-]+)[^ ]*( \[?[A-Z][^ ]*)? *(.*)/\2:\4/p'
}

# Prints the argument of an option as --help-all names it, or nothing for a flag.
_verbmark_argument() { # VERBMARK COMMAND OPTION
	[[ $3 == -* ]] && $1 $2 --help-all 2>/dev/null |
		sed -nE "s/^  ((-., |    )$3|$3, --[a-z-]+) ([A-Z][^ ]*).*/\\3/p"
}

# Prints the values of an option, or of the command's first argument. Without --help, a command
# whose option has no named values would run.
_verbmark_values() { # VERBMARK COMMAND [OPTION]
	"$@" help --help 2>/dev/null | awk '
		/^usage:/ { exit }
		{ name = $1; sub(/=.*/, "=", name); $1 = "" }
		name !~ /^N(-|$)/ { print name ":" substr($0, 2) }'
}

_verbmark() {
	local program=$words[1] command=$words[2] option=$words[CURRENT-1] argument
	local -a found

	if ((CURRENT == 2)); then
		found=("${(@f)$(_verbmark_commands $program)}" help --help --version)
		_describe command found
		return
	fi
	argument=$(_verbmark_argument $program $command $option)
	case $argument in
	FILE)
		_files
		return
		;;
	?*)
		[[ $argument == LIST ]] && compset -P '*,'
		found=("${(@f)$(_verbmark_values $program $command $option)}")
		[[ $option == (-d|--device) ]] && found=(soft0 auto)
		_describe value found
		return
		;;
	esac
	if [[ $words[CURRENT] == -* ]]; then
		found=("${(@f)$(_verbmark_options $program $command)}")
		_describe option found
		return
	fi
	case $command in
	help)
		found=("${(@f)$(_verbmark_commands $program)}")
		_describe command found
		;;
	history | import)
		if ((CURRENT == 3)); then
			found=("${(@f)$(_verbmark_values $program $command)}")
			_describe action found
		elif [[ $command == import || $words[3] == (add|import) ]]; then
			_files
		fi
		;;
	report | compare | export) _files ;;
	run | doctor | pool | tips | gate) _hosts ;;
	esac
}

# The completion system loads this file as a function, and tests source it.
[[ $zsh_eval_context[-1] == loadautofunc ]] && _verbmark "$@"
