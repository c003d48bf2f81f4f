/**
 * Kernels: each leaks native memory with an owner that it knows. To add one, write a public class
 * that implements {@link io.mallometer.benchmarks.owner.Kernel} with a public constructor without
 * parameters, and name it in {@code META-INF/services/io.mallometer.benchmarks.owner.Kernel}.
 */
@NullMarked
package io.mallometer.benchmarks.owner.kernels;

import org.jspecify.annotations.NullMarked;
