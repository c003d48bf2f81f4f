/**
 * Native memory in tests of JUnit 5 and 6: annotations that fail a test whose native memory grows,
 * is not freed, or is more than is allowed, and a parameter for assertions in code.
 */
@NullMarked
package io.mallometer.junit;

import org.jspecify.annotations.NullMarked;
