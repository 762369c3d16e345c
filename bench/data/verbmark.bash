# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion for bash. Commands, options and values are read from verbmark's own help.

_verbmark_commands() { # VERBMARK
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p'
}

_verbmark_options() { # VERBMARK COMMAND
	"$1" "$2" --help-all 2>/dev/null | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p'
}

_verbmark_takes() { # VERBMARK COMMAND OPTION ARGUMENT
	[[ $3 =~ ^--?[A-Za-z-]+$ ]] && "$1" "$2" --help-all 2>/dev/null |
		grep -qE "^  ((-., |    )$3|$3, --[a-z-]+) $4"
}

# The values of an option, or of the command's first argument. Without --help, a command whose
# option has no named values would run.
_verbmark_words() { # VERBMARK COMMAND [OPTION]
	"$@" help --help 2>/dev/null | awk '
		/^usage:/ { exit }
		{ sub(/=.*/, "=", $1) }
		$1 !~ /^N(-|$)/ { print $1 }'
}

_verbmark_files() { # WORD
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_verbmark_value() { # VERBMARK COMMAND OPTION WORD
	local before="" words

	case $2/$3 in
	*/--json | */--plan | */--output | */--baseline | */--markdown | */--junit | \
		*/--secret-file | */--db | report/-o | compare/-o | export/-o | history/-o)
		_verbmark_files "$4"
		return
		;;
	*/--save-dir)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$4")
		return
		;;
	*/--device | */-d)
		mapfile -t COMPREPLY < <(compgen -W "soft0 auto" -- "$4")
		return
		;;
	esac
	words=$(_verbmark_words "$1" "$2" "$3")
	[[ $4 == *,* ]] && _verbmark_takes "$1" "$2" "$3" LIST && before=${4%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${4#"$before"}")
}

_verbmark() {
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
	local option=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	# bash splits --op=send into three words; the last one may be missing.
	if [[ $word == = ]]; then
		word=""
	elif [[ $option == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_commands "$program") help --help --version" \
			-- "$word")
	elif [[ $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_commands "$program")" -- "$word")
	elif _verbmark_takes "$program" "$command" "$option" "[A-Z]"; then
		_verbmark_value "$program" "$command" "$option" "$word"
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_options "$program" "$command")" \
			-- "$word")
	elif [[ $command == report || $command == compare || $command == export ]]; then
		_verbmark_files "$word"
	elif [[ $command == history || $command == import ]] && ((COMP_CWORD == 2)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_words "$program" "$command")" -- "$word")
	elif [[ $command == import || ($command == history && ${COMP_WORDS[2]} =~ ^(add|import)$) ]]; then
		_verbmark_files "$word"
	elif [[ $command == run ]]; then
		mapfile -t COMPREPLY < <(compgen -A hostname -- "$word")
	fi
}

complete -F _verbmark verbmark
