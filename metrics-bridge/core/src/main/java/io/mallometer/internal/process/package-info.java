/**
 * Where the memory of the process goes as the operating system sees it: resident memory by what it
 * is, what the kernel charges to the memory cgroup, and what the configuration may come to need.
 *
 * <p>Parsers take text and never throw for a text that is cut off or garbled: what cannot be read
 * is unknown. Everything comes from {@code /proc}, the cgroup's files and the platform's MBeans (on
 * macOS from the kernel's {@code task_info}), so it works without the library too.
 */
@NullMarked
package io.mallometer.internal.process;

import org.jspecify.annotations.NullMarked;
