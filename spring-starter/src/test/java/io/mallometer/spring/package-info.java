/**
 * Tests of the starter, which use the version of Spring Boot that is on the class path.
 *
 * <p>The build runs all tests on each version of Spring Boot. Tests tagged {@code application} also
 * run on each web stack, with the library preloaded and without. Tests tagged {@code application}
 * or {@code context} start whole applications, so they run only in that matrix. {@code access}
 * needs the library preloaded, {@code secured} needs Spring Security.
 */
@NullMarked
package io.mallometer.spring;

import org.jspecify.annotations.NullMarked;
