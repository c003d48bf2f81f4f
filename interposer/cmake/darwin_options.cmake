# How the library is compiled and linked for macOS, on a Mac or with cmake/darwin.cmake elsewhere.
target_compile_definitions(mallometer PRIVATE _DARWIN_C_SOURCE _XOPEN_SOURCE=700)
target_compile_options(mallometer PRIVATE
  # Each of our functions has a frame record, by which the program's is found (src/platform/arch_darwin.h).
  -fno-omit-frame-pointer
  # Newer SDKs say since when the typed functions are there; on older systems nothing calls ours, which call them.
  -Wno-unguarded-availability-new
  # As for malloc's family.
  -fno-builtin-valloc -fno-builtin-aligned_alloc -fno-builtin-strdup)
# Functions that only newer systems have; 0 on others (src/hooks/darwin_interposing.c).
foreach(function malloc calloc valloc aligned_alloc posix_memalign free realloc zone_malloc zone_calloc zone_valloc
    zone_memalign zone_free zone_realloc)
  target_link_options(mallometer PRIVATE LINKER:-U,_malloc_type_${function})
endforeach()
set_target_properties(mallometer PROPERTIES INSTALL_NAME_DIR @rpath BUILD_WITH_INSTALL_NAME_DIR ON)
# Functions of libSystem are bound when the library is loaded: the hook never enters the loader.
if(CMAKE_CROSSCOMPILING)
  set(BIND COMMAND ${PROJECT_SOURCE_DIR}/cmake/bind_at_load.sh $<TARGET_FILE:mallometer>)
else()
  target_link_options(mallometer PRIVATE LINKER:-bind_at_load)
endif()
# Without the names that only a debugger wants. The linker signs for arm64, ad hoc, and so does strip, again.
add_custom_command(TARGET mallometer POST_BUILD ${BIND} COMMAND ${CMAKE_STRIP} -x $<TARGET_FILE:mallometer>)
