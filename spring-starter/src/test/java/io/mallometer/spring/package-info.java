/**
 * Tests of the starter, which use the version of Spring Boot that is on the class path.
 *
 * <p>The build runs all tests on each version of Spring Boot (the matrix). Tests with the tags
 * {@code application} and {@code context} start whole applications, and run only in the matrix.
 * Tests with {@code application} also run on each web stack, with the library preloaded and
 * without. {@code access} needs the preloaded library, and {@code secured} needs Spring Security.
 */
@NullMarked
package io.mallometer.spring;

import org.jspecify.annotations.NullMarked;
