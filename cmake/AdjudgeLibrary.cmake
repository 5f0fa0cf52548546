# Warnings, sanitizers and the shape of a room: one folder, one library, one target.

add_library(adjudge_flags INTERFACE)
target_compile_options(adjudge_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion
                       -Wno-sign-conversion -Werror=return-type -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(adjudge_flags INTERFACE -Wno-missing-braces
                         -Wno-unknown-warning-option -Wno-missing-field-initializers)
else()
  # GCC 12 warns of overlapping copies inside std::string's operator+ (its bug 105651).
  target_compile_options(adjudge_flags INTERFACE -Wno-missing-field-initializers -Wno-restrict)
endif()
if(ADJUDGE_FUZZ)  # counts of what runs, by which libFuzzer finds its inputs
  target_compile_options(adjudge_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ADJUDGE_SANITIZE)
  target_compile_options(adjudge_flags INTERFACE -fsanitize=${ADJUDGE_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(adjudge_flags INTERFACE -fsanitize=${ADJUDGE_SANITIZE})
endif()

# adjudge_library(NAME FOLDER f [SUBFOLDERS s...] USES [PUBLIC t...] [PRIVATE t...])
# Headers directly in the folder are public, those in the sub-folders private to the library.
function(adjudge_library name)
  cmake_parse_arguments(ARG "" "FOLDER" "SUBFOLDERS;USES" ${ARGN})
  cmake_parse_arguments(USES "" "" "PUBLIC;PRIVATE" ${ARG_USES})
  set(globs ${ARG_FOLDER}/*.cc)
  foreach(sub ${ARG_SUBFOLDERS})
    list(APPEND globs ${ARG_FOLDER}/${sub}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${globs})
  file(GLOB headers CONFIGURE_DEPENDS ${ARG_FOLDER}/*.h)
  add_library(adjudge_${name} STATIC ${sources})
  add_library(adjudge::${name} ALIAS adjudge_${name})
  target_sources(adjudge_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                 FILES ${headers})
  set_target_properties(adjudge_${name} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX
                        VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(adjudge_${name} PUBLIC cxx_std_20)
  target_include_directories(adjudge_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:include/adjudge>)
  target_link_libraries(adjudge_${name} PUBLIC ${USES_PUBLIC} PRIVATE ${USES_PRIVATE}
                        $<BUILD_INTERFACE:adjudge_flags>)
  set_property(GLOBAL APPEND PROPERTY ADJUDGE_LIBRARIES adjudge_${name})
  list(JOIN ARG_USES " " uses)
  set_property(GLOBAL APPEND_STRING PROPERTY ADJUDGE_ROOMS
               "${name} ${ARG_FOLDER} ${uses}\n")
endfunction()
