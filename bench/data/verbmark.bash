# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion for bash. Commands and options come from the command's own --help, and the words that
# an option accepts from the error message for a wrong word.

_verbmark_commands() { # VERBMARK
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p'
}

_verbmark_options() { # VERBMARK COMMAND
	"$1" "$2" --help 2>/dev/null | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p'
}

_verbmark_takes_value() { # VERBMARK COMMAND OPTION
	[[ $3 =~ ^--?[A-Za-z-]+$ ]] && "$1" "$2" --help 2>/dev/null |
		grep -qE "^  ((-., |    )$3|$3, --[a-z-]+) [A-Z]"
}

# --dry-run: nothing is run, even if the word were valid.
_verbmark_words() { # VERBMARK OPTION COMMAND...
	"$1" "${@:3}" "$2" '?' 2>&1 >/dev/null |
		sed -nE "s/^verbmark: $2: '\?' is (none|not one) of //p" | tr -d ,
}

_verbmark_verbs() { # VERBMARK COMMAND
	"$1" "$2" '?' 2>&1 >/dev/null |
		sed -nE "s/^verbmark: '\?' is (none|not one) of //p" | tr -d ,
}

_verbmark_files() { # WORD
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_verbmark_value() { # VERBMARK OPTION WORD COMMAND
	local before="" asked=(run --dry-run)

	[[ $4 == gate ]] && asked=(gate --base a/b --head a/b --dry-run)
	[[ $4 == report || $4 == compare || $4 == export || $4 == history ]] && asked=("$4")
	case $4/$2 in
	pool/--cq)
		mapfile -t COMPREPLY < <(compgen -W "poll event" -- "$3")
		return
		;;
	*/--format | export/--metric)
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_words "$1" "$2" "${asked[@]}")" -- "$3")
		return
		;;
	report/-o | compare/-o | export/-o | history/-o | history/--db)
		_verbmark_files "$3"
		;;
	esac
	case $2 in
	--op | --step | --metric | --cq | --server-cq | --arrivals | --registration | --pattern | \
		--transport | -c | --connect | --receives | --mr-access | --pages | \
		--relaxed-ordering)
		# For the letter, the message names the long option.
		[[ $2 == -c ]] && set -- "$1" --transport "${@:3}"
		[[ $3 == *,* ]] && before=${3%,*},
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_verbmark_words "$1" "$2" "${asked[@]}") all" \
			-- "${3##*,}")
		;;
	--pin | --server-pin)
		[[ $3 == *,* ]] && before=${3%,*},
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "auto off far" -- "${3##*,}")
		;;
	--numa | --server-numa)
		[[ $3 == *,* ]] && before=${3%,*},
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "auto off" -- "${3##*,}")
		;;
	--access)
		[[ $3 == *,* ]] && before=${3%,*},
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "same sequential random stride=" -- "${3##*,}")
		;;
	--device | -d)
		mapfile -t COMPREPLY < <(compgen -W "soft0 auto" -- "$3")
		;;
	--preset | --units)
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_words "$1" "$2" "${asked[@]}")" -- "$3")
		;;
	--json | --plan | --output | --baseline | --markdown | --junit | --secret-file)
		_verbmark_files "$3"
		;;
	esac
}

_verbmark() {
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
	local option=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	# bash splits --op=send into three words, of which the last may be missing.
	if [[ $word == = ]]; then
		word=""
	elif [[ $option == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_commands "$program") --help --version" \
			-- "$word")
	elif _verbmark_takes_value "$program" "$command" "$option"; then
		_verbmark_value "$program" "$option" "$word" "$command"
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_options "$program" "$command")" \
			-- "$word")
	elif [[ $command == report || $command == compare || $command == export ]]; then
		_verbmark_files "$word"
	elif [[ $command == history ]] && ((COMP_CWORD == 2)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbmark_verbs "$program" "$command")" -- "$word")
	elif [[ $command == import ]] && ((COMP_CWORD == 2)); then
		mapfile -t COMPREPLY < <(compgen -W "perftest" -- "$word")
	elif [[ $command == import || ($command == history && ${COMP_WORDS[2]} =~ ^(add|import)$) ]]; then
		_verbmark_files "$word"
	elif [[ $command == run ]]; then
		mapfile -t COMPREPLY < <(compgen -A hostname -- "$word")
	fi
}

complete -F _verbmark verbmark
