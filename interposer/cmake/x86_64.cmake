# Builds for x86-64 on another machine, with Debian's gcc-x86-64-linux-gnu and g++-x86-64-linux-gnu.
set(CMAKE_SYSTEM_PROCESSOR x86_64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
