/** The rules that turn a snapshot, and the history before it, into one diagnosis of the process. */
@NullMarked
package io.mallometer.internal.diagnosis;

import org.jspecify.annotations.NullMarked;
