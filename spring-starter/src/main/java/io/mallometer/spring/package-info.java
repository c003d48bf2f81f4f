/**
 * Mallometer in a Spring Boot application, by configuration alone.
 *
 * <p>One jar serves Spring Boot 3.5 and 4.x. It is compiled against 3.5. Types that have another
 * name in 4.x are named by strings.
 *
 * <p>Each part that needs an optional library has an auto-configuration of its own. The {@link
 * io.mallometer.spring.MallometerAutoConfiguration core} needs none.
 *
 * <p>Conditions name classes by strings, because newer versions of Spring would fail on a class
 * literal of an absent library.
 */
@NullMarked
package io.mallometer.spring;

import org.jspecify.annotations.NullMarked;
