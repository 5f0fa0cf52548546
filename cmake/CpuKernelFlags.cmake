# One file of CPU kernels an instruction set: only that file may use it, and only when the machine
# has it (engine/cpu/isa.h).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT ADJUDGE_SCALAR)
  set(avx2 -mavx2 -mfma -mf16c)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # GCC's own header: _mm512_undefined_ps, bug 105593
    list(APPEND avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
  set(vnni ${avx512} -mavx512vnni)
  set_source_files_properties(engine/cpu/kernels_avx2.cc PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(engine/cpu/kernels_avxvnni.cc PROPERTIES
                              COMPILE_OPTIONS "${avx2};-mavxvnni")
  set_source_files_properties(engine/cpu/kernels_avx512.cc PROPERTIES COMPILE_OPTIONS "${avx512}")
  set_source_files_properties(engine/cpu/kernels_avx512vnni.cc PROPERTIES
                              COMPILE_OPTIONS "${vnni}")
  set_source_files_properties(engine/cpu/kernels_avx512bf16.cc PROPERTIES
                              COMPILE_OPTIONS "${vnni};-mavx512bf16")
  set_source_files_properties(engine/cpu/kernels_amx.cc PROPERTIES
                              COMPILE_OPTIONS "${vnni};-mamx-tile;-mamx-int8;-mamx-bf16")
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" AND NOT ADJUDGE_SCALAR)
  set_source_files_properties(engine/cpu/kernels_neon.cc PROPERTIES
                              COMPILE_OPTIONS "-march=armv8.2-a+dotprod")
endif()

# Only the kernels know of the switch, so that the two builds share everything else through ccache.
if(ADJUDGE_SCALAR)
  file(GLOB cpu_sources CONFIGURE_DEPENDS engine/cpu/*.cc)
  set_source_files_properties(${cpu_sources} PROPERTIES COMPILE_DEFINITIONS ADJUDGE_SCALAR=1)
endif()
