/**
 * Mallometer in a Spring Boot application, by configuration alone.
 *
 * <p>One jar serves Spring Boot 3.5 and 4.x. It is compiled against 3.5 and uses only what has the
 * same name in all; what moved in between is named by strings. One auto-configuration for each
 * thing that may be missing from the application: the {@link
 * io.mallometer.spring.MallometerAutoConfiguration core} always applies, {@link
 * io.mallometer.spring.MallometerMetricsAutoConfiguration metrics} need Micrometer, the {@link
 * io.mallometer.spring.MallometerPrometheusAutoConfiguration size histogram} needs the Prometheus
 * registry, the {@link io.mallometer.spring.MallometerEndpointAutoConfiguration endpoint} and
 * {@link io.mallometer.spring.MallometerInfoAutoConfiguration info} need the Actuator, health comes
 * as Spring Boot {@link io.mallometer.spring.MallometerHealthAutoConfiguration 4.x} has it or as
 * {@link io.mallometer.spring.MallometerActuatorHealthAutoConfiguration 3.5}.
 *
 * <p>Conditions name classes by strings: a class literal of an absent optional library would be
 * resolved eagerly on newer frameworks.
 */
@NullMarked
package io.mallometer.spring;

import org.jspecify.annotations.NullMarked;
