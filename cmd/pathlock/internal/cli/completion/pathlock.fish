# Completion of pathlock for fish. Load it with: pathlock completion fish | source
function __pathlock_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c pathlock -f -a '(__pathlock_complete)'
