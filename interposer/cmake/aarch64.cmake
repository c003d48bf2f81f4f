# Builds for aarch64 on another machine, with Debian's gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
