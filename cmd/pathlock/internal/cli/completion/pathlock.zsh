#compdef pathlock
# Completion of pathlock for zsh. Load it with: source <(pathlock completion zsh)
_pathlock() {
	local line
	local -a candidates
	for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -z $line ]] && continue
		if [[ $line == :files ]]; then
			_files
			return
		fi
		# _describe takes value:description, so colons in the value are escaped.
		candidates+=("${${line%%$'\t'*}//:/\\:}${${(M)line:#*$'\t'*}:+:${line#*$'\t'}}")
	done
	(( $#candidates )) && _describe -V pathlock candidates
}
compdef _pathlock pathlock
