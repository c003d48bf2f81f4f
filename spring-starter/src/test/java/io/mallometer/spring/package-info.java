/**
 * What the starter promises, on whichever Spring Boot the class path holds.
 *
 * <p>The build runs all of it on each Spring Boot. Tests tagged {@code application} run once more
 * for each web stack, with the library preloaded and without. Those tagged {@code application} or
 * {@code context} start whole applications; the starter's own module leaves them to the matrix.
 * {@code access} needs the library preloaded, {@code secured} needs Spring Security.
 */
@NullMarked
package io.mallometer.spring;

import org.jspecify.annotations.NullMarked;
