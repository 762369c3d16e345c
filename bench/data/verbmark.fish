# SPDX-License-Identifier: MIT
# Completion for fish. Commands, options and values are read from verbmark's own help.

# Prints the lines of --help-all that describe options: "-s, --size LIST  message sizes ...".
function __verbmark_options -a program command
    $program $command --help-all 2>/dev/null | string match -r '^  (?:-., |    )--[a-z-]+.*'
end

# Prints the argument of an option as --help-all names it, or nothing for a flag.
function __verbmark_argument -a program command option
    __verbmark_options $program $command |
        string match -r -g -- "^  (?:-., |    )(?:$option|(?<=$option, )--[a-z-]+) ([A-Z]\S*)"
end

# Prints the values of an option, or of the command's first argument, with their meaning. Without
# --help, a command whose option has no named values would run.
function __verbmark_values
    set -l lines ($argv help --help 2>/dev/null)
    string match -q 'usage:*' -- $lines[1]; and return
    string replace -r '^(\S+?)(?:(=)\S*)? +(.*)' '$1$2\t$3' -- $lines |
        string match -v -r '^N(-|\t)'
end

function __verbmark_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -l command $words[2]
    set -l option $words[-1]

    if test (count $words) -eq 1
        $program --help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*) +(.*)' '$1\t$2'
        printf '%s\n' help --help --version
        return
    end
    if test "$command" = help
        $program --help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*) +(.*)' '$1\t$2'
        return
    end
    set -l before ''
    set -l parts (string match -r -g '^(--[a-z-]+)=(.*)' -- $current)
    if test (count $parts) -eq 2
        set option $parts[1]
        set before "$option="
        set current $parts[2]
    end
    if string match -qr '^--?[A-Za-z-]+$' -- $option
        set -l argument (__verbmark_argument $program $command $option)
        set -l found
        if test -n "$argument"
            switch $argument
                case FILE
                    set found (__fish_complete_path $current)
                case '*'
                    set found (__verbmark_values $program $command $option)
                    contains -- $option -d --device; and set found soft0 auto
            end
            test $argument = LIST; and set before "$before"(string match -r '^.*,' -- $current; or echo '')
            for value in $found
                echo $before$value
            end
            return
        end
    end
    switch $current
        case '-*'
            __verbmark_options $program $command |
                string replace -r '^  (?:-., |    )(--[a-z-]+)\S*(?: \[?[A-Z]\S*)? *(.*)' '$1\t$2'
            return
    end
    switch $command
        case report compare export
            __fish_complete_path $current
        case history import
            if test (count $words) -eq 2
                __verbmark_values $program $command
            else if test $command = import; or contains -- $words[3] add import
                __fish_complete_path $current
            end
        case run doctor pool tips gate
            __fish_print_hostnames
    end
end

complete -c verbmark -f -a '(__verbmark_complete)'
