# Installs the build into a scratch folder, and builds and runs a small program against it with
# find_package(adjudge). Run by ctest: cmake -DBUILD=... -DSOURCE=... -P install_test.cmake
set(scratch ${BUILD}/install_test)
file(REMOVE_RECURSE ${scratch})
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${scratch}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/house/install_consumer -B ${scratch}/build -G Ninja
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${scratch}/prefix)
run(${CMAKE_COMMAND} --build ${scratch}/build)
run(${scratch}/build/consumer ${SOURCE}/tests/golden/tiny/llama-f32.gguf)
run(${scratch}/prefix/bin/adjudge --version)
