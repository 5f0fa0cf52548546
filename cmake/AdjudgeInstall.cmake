# cmake --install, and a package that find_package(adjudge) reads.
