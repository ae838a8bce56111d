# Finds Apache httpd through apxs. Gives the target Httpd::Httpd (include paths and flags, no library: a module's symbols
# come from the server that loads it), HTTPD_MODULE_DIR and HTTPD_SYSCONF_DIR.
find_program(APXS_EXECUTABLE NAMES apxs apxs2)
mark_as_advanced(APXS_EXECUTABLE)

function(apxs_query name out)
  execute_process(COMMAND "${APXS_EXECUTABLE}" -q ${name} OUTPUT_VARIABLE value OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

if(APXS_EXECUTABLE)
  apxs_query(INCLUDEDIR HTTPD_INCLUDE_DIR)
  apxs_query(APR_INCLUDEDIR apr_include_dir)
  apxs_query(APU_INCLUDEDIR apu_include_dir)
  apxs_query(EXTRA_CPPFLAGS cppflags)
  apxs_query(LIBEXECDIR HTTPD_MODULE_DIR)
  apxs_query(SYSCONFDIR HTTPD_SYSCONF_DIR)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Httpd REQUIRED_VARS APXS_EXECUTABLE HTTPD_INCLUDE_DIR HTTPD_MODULE_DIR)

if(Httpd_FOUND AND NOT TARGET Httpd::Httpd)
  add_library(Httpd::Httpd INTERFACE IMPORTED)
  # SYSTEM: httpd's C headers are not ours to warn about.
  target_include_directories(Httpd::Httpd SYSTEM INTERFACE "${HTTPD_INCLUDE_DIR}" "${apr_include_dir}"
                                                          "${apu_include_dir}")
  separate_arguments(cppflags)
  target_compile_options(Httpd::Httpd INTERFACE ${cppflags})
endif()

# A loadable module mod_NAME.so from the given sources, with everything that both modules share linked in.
function(add_httpd_module name)
  add_library(mod_${name} MODULE ${ARGN})
  set_target_properties(mod_${name} PROPERTIES PREFIX "")
  target_link_libraries(mod_${name} PRIVATE crcsync_httpd)
  target_include_directories(mod_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  install(TARGETS mod_${name} LIBRARY DESTINATION "${HTTPD_MODULE_DIR}")
endfunction()
