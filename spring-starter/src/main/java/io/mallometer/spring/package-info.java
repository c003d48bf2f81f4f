/**
 * Mallometer in a Spring Boot application, by configuration alone.
 *
 * <p>One jar serves Spring Boot 3.5 and 4.x. It is compiled against 3.5 and uses only types that
 * have the same name in all versions; others are named by strings. Each part that needs an optional
 * library has an auto-configuration of its own: the {@link
 * io.mallometer.spring.MallometerAutoConfiguration core} always applies, {@link
 * io.mallometer.spring.MallometerMetricsAutoConfiguration metrics} need Micrometer, the {@link
 * io.mallometer.spring.MallometerPrometheusAutoConfiguration size histogram} needs the Prometheus
 * registry, the {@link io.mallometer.spring.MallometerEndpointAutoConfiguration endpoint} and
 * {@link io.mallometer.spring.MallometerInfoAutoConfiguration info} need the Actuator, {@link
 * io.mallometer.spring.MallometerHealthAutoConfiguration health} has a variant for 4.x and one for
 * 3.5.
 *
 * <p>Conditions name classes by strings: newer versions of Spring would resolve a class literal of
 * an absent library immediately.
 */
@NullMarked
package io.mallometer.spring;

import org.jspecify.annotations.NullMarked;
