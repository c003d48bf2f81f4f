/**
 * The memory of the process as the operating system sees it: resident memory by kind, the charge of
 * the memory cgroup, and the memory that the configuration may need.
 *
 * <p>Parsers take text and never throw for an incomplete or corrupt text: figures that cannot be
 * read are unknown. All figures are read from {@code /proc}, the cgroup's files and the platform's
 * MBeans, and on macOS from the kernel's {@code task_info}. So they are also available without the
 * native library.
 */
@NullMarked
package io.mallometer.internal.process;

import org.jspecify.annotations.NullMarked;
