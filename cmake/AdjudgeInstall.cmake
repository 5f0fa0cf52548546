# cmake --install, and a package that find_package(adjudge) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY ADJUDGE_LIBRARIES)
install(TARGETS ${libraries} EXPORT adjudge
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/adjudge)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/adjudge)
install(EXPORT adjudge NAMESPACE adjudge:: FILE adjudgeTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/adjudgeConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/adjudgeConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/adjudgeConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/adjudgeConfig.cmake ${CMAKE_BINARY_DIR}/adjudgeConfigVersion.cmake
        DESTINATION ${package_dir})
