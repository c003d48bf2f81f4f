/**
 * Tests of the starter, which use the version of Spring Boot that is on the class path.
 *
 * <p>The build runs the tests on each version of Spring Boot. Tests with the tags {@code
 * application} and {@code context} start whole applications, and only the modules in {@code matrix}
 * run them. Tests with {@code application} also run on each web stack, with the library preloaded
 * and without. {@code access} needs the preloaded library, and {@code secured} needs Spring
 * Security. {@code newest-boot} marks tests whose result does not depend on the version of Spring
 * Boot.
 */
@NullMarked
package io.mallometer.spring;

import org.jspecify.annotations.NullMarked;
