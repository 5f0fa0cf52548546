# Everything that the project takes from the distribution; scripts/setup installs it.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
find_package(Eigen3 REQUIRED NO_MODULE)
find_path(lbfgspp_include LBFGS.h REQUIRED)
find_path(csv_include csv.h REQUIRED)  # libcsv has no package file; it is linked as -lcsv
