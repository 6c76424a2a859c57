# What the scripts here compile with; they source it. On a fresh machine the compiler takes half of
# their time. So gin's codec of msgpack, which nothing here calls, is left out, and the C of one
# SQLite, which one test opens, is compiled without optimisation. What is compiled in one way by
# every script is compiled once.
case ${GOFLAGS:-} in
*-tags=*) ;;
*) export GOFLAGS="${GOFLAGS:+$GOFLAGS }-tags=nomsgpack" ;;
esac
export CGO_CFLAGS="${CGO_CFLAGS--O0}"
# Compiler, linker and tests collect garbage less often: it takes about a tenth of their time.
export GOGC="${GOGC:-400}"
