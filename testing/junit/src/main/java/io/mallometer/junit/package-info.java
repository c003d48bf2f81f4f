/**
 * Native memory in tests of JUnit 5 and 6: annotations that limit the use or growth of native
 * memory or require that it is freed, and a parameter for assertions in code.
 */
@NullMarked
package io.mallometer.junit;

import org.jspecify.annotations.NullMarked;
