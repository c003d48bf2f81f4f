/** Sends profiles to a profile store, from where nobody can fetch them. */
@NullMarked
package io.mallometer.push;

import org.jspecify.annotations.NullMarked;
