/**
 * Gates for builds: they compare measured native memory with baselines and thresholds.
 *
 * <p>Results come from files ({@link io.mallometer.internal.gate.Results}). A {@link
 * io.mallometer.internal.gate.Comparison} compares them with expected figures: a named baseline
 * ({@link io.mallometer.internal.gate.Baselines}) or the threshold files of a project ({@link
 * io.mallometer.internal.gate.Thresholds}). The command line and the Maven plugin share this code.
 * This package uses no other package of the project and runs in no application.
 */
@NullMarked
package io.mallometer.internal.gate;

import org.jspecify.annotations.NullMarked;
