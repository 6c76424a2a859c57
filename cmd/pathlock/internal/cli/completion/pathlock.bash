# Completion of pathlock for bash. Load it with: source <(pathlock completion bash)
_pathlock() {
	local line candidates=() IFS=$'\n'
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == :files ]]; then
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "$2") # names as they are: no pattern is expanded
			return
		fi
		candidates+=("${line%%$'\t'*}")
	done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	COMPREPLY=("${candidates[@]}")
}
complete -F _pathlock pathlock
