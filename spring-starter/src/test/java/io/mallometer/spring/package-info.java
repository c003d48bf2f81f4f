/**
 * What the starter promises, on whichever Spring Boot the class path holds. Tests tagged {@code
 * application} start real applications and run once more for each web stack, with the library
 * preloaded and without.
 */
@NullMarked
package io.mallometer.spring;

import org.jspecify.annotations.NullMarked;
