/** The Maven plugin. */
@NullMarked
package io.mallometer.maven;

import org.jspecify.annotations.NullMarked;
